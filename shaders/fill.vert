// Covers the viewport with one triangle.

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    gl_Position = vec4(corner * 4.0 - 1.0, 0.0, 1.0);
}
