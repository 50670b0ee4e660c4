// Adds up blocks of 16 x 16 pixels, as a step of the brightness measurement.

uniform sampler2D parts;

out vec4 sums;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * 16;
    ivec2 end = min(corner + 16, textureSize(parts, 0));
    vec2 sum = vec2(0.0);
    for (int y = corner.y; y < end.y; ++y)
        for (int x = corner.x; x < end.x; ++x)
            sum += texelFetch(parts, ivec2(x, y), 0).rg;
    sums = vec4(sum, 0.0, 0.0);
}
