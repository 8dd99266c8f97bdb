// Shaders of the scene. TAPS is the half width of the shadow filter in texels: 0 in drafts, more when at rest.

const SHADOW = `
uniform highp sampler2DShadow shadowMap;
uniform float texel;
float lit(vec4 place) {
  vec3 p = place.xyz / place.w * 0.5 + 0.5;
  if (any(lessThan(p, vec3(0.0))) || any(greaterThan(p, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -TAPS; i <= TAPS; i++)
    for (int j = -TAPS; j <= TAPS; j++)
      sum += texture(shadowMap, vec3(p.xy + vec2(i, j) * texel * SPREAD, p.z - 0.002));
  return sum / float((2 * TAPS + 1) * (2 * TAPS + 1));
}`;

// Bodies: hemisphere light, one lamp with shadow, a soft highlight and a rim; others fade when one is selected.
export const BODY = {
  vertex: `
layout(location=0) in vec3 position;
layout(location=1) in vec3 normal;
layout(location=2) in vec4 coat;
uniform mat4 camera, place, lamp;
uniform float offset;
out vec3 world, facing;
out vec4 tint;
out vec4 lampPlace;
void main() {
  facing = mat3(place) * normal;
  vec4 p = place * vec4(position, 1.0);
  world = p.xyz;
  tint = coat;
  lampPlace = lamp * (p + vec4(normalize(facing) * offset, 0.0));
  gl_Position = camera * p;
}`,
  fragment: SHADOW + `
in vec3 world, facing;
in vec4 tint;
in vec4 lampPlace;
uniform vec3 light, eye, colour, sky;
uniform float faded, exposure, opacity, flat_;
uniform vec3 out_;
out vec4 pixel;
void main() {
  vec3 n = normalize(facing), view = flat_ > 0.5 ? out_ : normalize(eye - world);
  if (dot(n, view) < 0.0) n = -n;
  float lamp = max(dot(n, light), 0.0);
  lamp *= lamp > 0.0 ? lit(lampPlace) : 1.0;
  float shine = pow(max(dot(n, normalize(light + view)), 0.0), 40.0) * 0.22 * lamp;
  float rim = pow(1.0 - max(dot(n, view), 0.0), 3.0) * 0.16;
  vec3 ambient = mix(vec3(0.60, 0.59, 0.61), vec3(0.88, 0.90, 0.93), n.z * 0.5 + 0.5);
  // A coat of its own where tint.a is 1, else the body's colour times a shade.
  vec3 own = mix(colour * tint.rgb, tint.rgb, tint.a);
  vec3 shaded = own * exposure * (ambient + lamp * 0.55) + shine + rim * sky * 0.6;
  pixel = vec4(mix(shaded, sky, faded), opacity);
}`,
};

// Depth only, for the shadow map.
export const DEPTH = {
  vertex: `
layout(location=0) in vec3 position;
uniform mat4 camera, place;
void main() { gl_Position = camera * place * vec4(position, 1.0); }`,
  fragment: "void main() {}",
};

// A shell pushed outwards by a fixed number of pixels, drawn from behind: the outline of a selected body.
export const OUTLINE = {
  vertex: `
layout(location=0) in vec3 position;
layout(location=3) in vec3 outward;
uniform mat4 camera, place;
uniform vec2 pixelSize;
uniform float step_;
void main() {
  vec4 p = camera * place * vec4(position, 1.0);
  vec4 q = camera * place * vec4(position + outward * step_, 1.0);
  vec2 across = (q.xy / q.w - p.xy / p.w) / pixelSize;
  float size = length(across);
  if (size > 0.0) p.xy += across / size * pixelSize * p.w;
  gl_Position = p;
}`,
  fragment: "uniform vec3 colour;\nout vec4 pixel;\nvoid main() { pixel = vec4(colour, 1.0); }",
};

// Sky and floor with a grid, one ray per pixel; kept in a texture until the camera moves.
export const BACKDROP = {
  vertex: `
out vec2 place;
void main() {
  vec2 corner = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  place = corner * 2.0 - 1.0;
  gl_Position = vec4(place, 0.0, 1.0);
}`,
  fragment: `
in vec2 place;
uniform vec3 eye, right, up, out_, centre, sky, ground, gridColour;
uniform float floorHeight, cell, reach, hasFloor, flat_;
out vec4 pixel;
float lines(vec2 p, float width) {
  vec2 across = abs(fract(p - 0.5) - 0.5) / max(fwidth(p), 1e-6);
  vec2 density = clamp(fwidth(p) * 2.0, 0.0, 1.0);
  vec2 line = (1.0 - clamp(across - width + 0.5, 0.0, 1.0)) * (1.0 - density);
  return max(line.x, line.y);
}
void main() {
  vec3 aside = right * place.x + up * place.y, ray = flat_ > 0.5 ? -out_ : aside - out_;
  vec3 colour = mix(ground, sky, smoothstep(-0.9, 0.7, place.y));
  float along = (floorHeight - eye.z) / ray.z;
  vec2 hit = eye.xy + ray.xy * along;
  float distance = length(hit - centre.xy) / reach;
  float minor = lines(hit / cell, 0.5), major = lines(hit / (5.0 * cell), 0.7);
  if (hasFloor > 0.5 && along > 0.0 && eye.z > floorHeight) {
    float near = exp(-distance * distance);
    colour = mix(colour, gridColour, max(minor * 0.32, major * 0.75) * near);
  }
  // Seen flat, a grid in the plane of the picture shows the scale.
  vec2 sheet = vec2(dot(eye + aside, normalize(right)), dot(eye + aside, normalize(up)));
  float fine = lines(sheet / cell, 0.5), bold = lines(sheet / (5.0 * cell), 0.7);
  if (flat_ > 0.5) colour = mix(colour, gridColour, max(fine * 0.22, bold * 0.5));
  pixel = vec4(colour, 1.0);
}`,
};

// The backdrop's texture put back on the picture.
export const COPY = {
  vertex: BACKDROP.vertex,
  fragment: `
in vec2 place;
uniform sampler2D picture;
out vec4 pixel;
void main() { pixel = vec4(texture(picture, place * 0.5 + 0.5).rgb, 1.0); }`,
};

// Shadow on the floor: a square under the mechanism, dark where the lamp does not reach.
export const FLOOR_SHADOW = {
  vertex: `
uniform mat4 camera, lamp;
uniform vec3 middle;
uniform float half_;
out vec4 lampPlace;
out vec2 within;
void main() {
  within = vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID >> 1) * 2 - 1);
  vec4 p = vec4(middle + vec3(within * half_, 0.0), 1.0);
  lampPlace = lamp * p;
  gl_Position = camera * p;
}`,
  fragment: SHADOW + `
in vec4 lampPlace;
in vec2 within;
uniform float strength;
out vec4 pixel;
void main() {
  float fade = 1.0 - smoothstep(0.7, 1.0, length(within));
  pixel = vec4(0.02, 0.03, 0.05, (1.0 - lit(lampPlace)) * strength * fade);
}`,
};

// A path as a ribbon of constant width on the screen: faint as a whole, strong where the point just was.
export const PATH = {
  vertex: `
layout(location=0) in vec3 position;
layout(location=1) in vec3 next;
layout(location=2) in vec2 sideAndTime;
uniform mat4 camera;
uniform vec2 pixelSize;
uniform float now, tail;
out float strength;
void main() {
  vec4 p = camera * vec4(position, 1.0), q = camera * vec4(next, 1.0);
  vec2 along = (q.xy / q.w - p.xy / p.w) / pixelSize;
  float size = max(length(along), 1e-6);
  float age = (now - sideAndTime.y) / tail;
  bool recent = age >= 0.0 && age < 1.0;
  strength = recent ? mix(0.9, 0.2, age) : 0.2;
  vec2 across = vec2(-along.y, along.x) / size;
  p.xy += across * sideAndTime.x * pixelSize * (recent ? 1.5 - 0.7 * age : 0.8) * p.w;
  gl_Position = p;
}`,
  fragment: "in float strength;\nuniform vec3 colour;\nout vec4 pixel;\nvoid main() { pixel = vec4(colour, strength); }",
};
