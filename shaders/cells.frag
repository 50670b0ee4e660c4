// A thin line with soft edges, which is fainter where bodies are drawn.

in vec4 tint;
in float across;

uniform sampler2D light;  // the drawn bodies; alpha: brightness, or covered share of the pixel
uniform vec2 origin;      // lower left corner of the viewport, in pixels

out vec4 colour;

void main() {
    float cover = min(texelFetch(light, ivec2(gl_FragCoord.xy - origin), 0).a, 1.0);
    colour = vec4(tint.rgb, tint.a * (1.0 - across * across) * (1.0 - 0.8 * cover));
}
