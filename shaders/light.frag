// The light behind the sprites: the light of the sky plus the image of the light of all bodies, enlarged to the size of
// the picture.

#ifdef SKY
uniform sampler2D sky;
#endif
#ifdef IMAGE
uniform sampler2D image;
uniform vec2 size;  // size of the picture, in pixels
#endif

out vec4 light;

void main() {
    light = vec4(0.0);
#ifdef SKY
    light += texelFetch(sky, ivec2(gl_FragCoord.xy), 0);
#endif
#ifdef IMAGE
    light += texture(image, gl_FragCoord.xy / size);
#endif
}
