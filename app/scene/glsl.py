"""Pieces of GLSL 3.30 that the programs share: frame, water, light, limbs, output."""

__all__ = [
    "APART",
    "FLATTEN",
    "HEAD",
    "LIGHT",
    "PLACE_LIMB",
    "SHOW",
    "SPOT",
    "SUN",
    "WATER",
]

SUN = (0.2357, 0.2910, 0.9272)
"""Unit vector towards the sun, hull frame."""

HEAD = f"""
#version 330
layout(std140) uniform Frame {{
    mat4 hull_to_clip;
    vec4 eye;            // position [m], 0
    vec4 spot_position;  // [m], strength
    vec4 spot_direction; // unit, 0
    vec4 lamps;          // gains of skylight, sun, headlamp, haze
    vec4 picture;        // width, height [px], metres a pixel covers at 1 m, 0
}};
const vec3 SUN = vec3({SUN[0]}, {SUN[1]}, {SUN[2]});
const vec3 SUN_LIGHT = vec3(0.94, 0.98, 0.93);
const vec3 SPOT_LIGHT = vec3(1.00, 0.93, 0.78);
"""

WATER = """
vec3 water(vec3 direction) {
    vec3 deep = vec3(0.0024, 0.0105, 0.0165);
    vec3 level = vec3(0.0090, 0.0480, 0.0680);
    vec3 above = vec3(0.0300, 0.1500, 0.1950);
    vec3 color = mix(level, deep, smoothstep(0.02, -0.55, direction.z));
    color = mix(color, above, smoothstep(0.0, 1.1, direction.z));
    float glow = max(dot(direction, SUN), 0.0);
    return (color + vec3(0.02, 0.075, 0.085) * glow * glow * glow) * lamps.x;
}
// What water leaves of light from a point, and what it adds on the way to the eye.
void haze(vec3 world, out vec3 through, out vec3 added) {
    vec3 sight = world - eye.xyz;
    float reach = length(sight);
    through = exp(-reach * lamps.w * vec3(0.24, 0.115, 0.100));
    float clear = exp(-reach * lamps.w * 0.15);
    added = water(sight / max(reach, 1e-4)) * (1.0 - clear);
}
"""

SPOT = """
float spot(vec3 world, vec3 n) {
    vec3 ray = spot_position.xyz - world;
    float far2 = dot(ray, ray);
    float near = inversesqrt(max(far2, 1e-5));
    ray *= near;
    float cone = smoothstep(0.84, 0.965, -dot(ray, spot_direction.xyz));
    float facing = clamp(dot(n, ray) * 0.85 + 0.15, 0.0, 1.0);
    return spot_position.w * cone * facing / (0.10 + far2) * exp(-0.45 * far2 * near);
}
"""

LIGHT = (
    SPOT
    + """
// Sunlight that waves have gathered: patches as soft as the vertices can carry.
float dapple(vec3 world) {
    vec2 p = world.xy - SUN.xy / SUN.z * world.z;
    vec2 q = p + 0.05 * sin(7.3 * p.yx + vec2(0.4, 2.1));
    float a = sin(13.1 * q.x + 1.7 * sin(5.1 * q.y)) + sin(11.7 * q.y + q.x * 6.1);
    return 0.86 + 0.24 * smoothstep(0.4, 1.7, abs(a));
}
vec3 lit(vec3 albedo, float gloss, vec3 n, vec3 world, float self) {
    vec3 v = normalize(eye.xyz - world);
    vec3 sky = mix(vec3(0.065, 0.085, 0.085), vec3(0.20, 0.33, 0.36), n.z * 0.5 + 0.5);
    float open = dapple(world);
    float sun = max(dot(n, SUN) * 0.85 + 0.15, 0.0) * open;
    float head = max(dot(n, v), 0.0);
    vec3 light = sky * lamps.x + SUN_LIGHT * (sun * lamps.y);
    light += vec3(1.0, 0.97, 0.93) * (head * lamps.z) + vec3(self * lamps.x);
    light += SPOT_LIGHT * spot(world, n);
    float s = max(dot(n, normalize(SUN + v)), 0.0);
    s *= s; s *= s; s *= s; s *= s;
    float h = head * head; h *= h; h *= h; h *= h;
    float rim = 1.0 - head; rim *= rim; rim *= rim;
    vec3 gleam = SUN_LIGHT * (s * open * lamps.y) + vec3(0.5 * h * lamps.z);
    gleam += vec3(0.10, 0.22, 0.26) * rim * lamps.x;
    return albedo * light + gloss * 0.55 * gleam;
}
"""
)

SHOW = """
out vec4 pixel;
void show(vec3 color, float alpha) { pixel = vec4(sqrt(color.bgr), alpha); }
"""

# A limb's vertex belongs to a row of `frames`; between two rows the skin follows the
# circular arc through them: a cubic with end slopes chord * 2 / (1 + cos(angle / 2)).
PLACE_LIMB = """
uniform sampler2D frames;
uniform int first_row;
in float row;
in vec3 position;
in vec4 normal;  // unit vector, strength of the bands
in vec4 color;
vec3 column(int number, int at_row) {  // x, y, z axis, origin
    return texelFetch(frames, ivec2(number, at_row), 0).xyz;
}
void place_limb(out vec3 world, out vec3 n) {
    int whole = int(row);
    float t = row - float(whole);
    vec3 ax = column(0, first_row + whole), ay = column(1, first_row + whole);
    vec3 az = column(2, first_row + whole), origin = column(3, first_row + whole);
    if (t > 0.001) {
        int after = first_row + whole + 1;
        vec3 x1 = column(0, after), y1 = column(1, after), z1 = column(2, after);
        vec3 next = column(3, after);
        float chord = distance(origin, next);
        float half_cosine = sqrt(0.5 + 0.5 * clamp(dot(az, z1), -1.0, 1.0));
        float slope = 2.0 * chord / (1.0 + half_cosine);
        float t2 = t * t, t3 = t2 * t;
        origin = (2.0 * t3 - 3.0 * t2 + 1.0) * origin + (3.0 * t2 - 2.0 * t3) * next
            + slope * ((t3 - 2.0 * t2 + t) * az + (t3 - t2) * z1);
        ax = normalize(mix(ax, x1, t));
        ay = normalize(mix(ay, y1, t));
        az = normalize(mix(az, z1, t));
    }
    world = origin + ax * position.x + ay * position.y + az * position.z;
    n = ax * normal.x + ay * normal.y + az * normal.z;
}
"""

# How far a vertex's place on the limb lies from the same place on another copy, 0..1.
APART = """
uniform int other_row;  // first row of that copy, or below 0: as if far
float apart() {
    if (other_row < 0) return 1.0;
    int whole = int(row);
    int after = row - float(whole) > 0.001 ? whole + 1 : whole;
    vec3 mine = mix(column(3, first_row + whole), column(3, first_row + after),
        row - float(whole));
    vec3 other = mix(column(3, other_row + whole), column(3, other_row + after),
        row - float(whole));
    return smoothstep(0.002, 0.022, distance(mine, other));
}
"""

# The sun's view onto the sand: parallel rays, followed to z = 0.
FLATTEN = """
uniform vec4 shadow_window;
vec4 flatten(vec3 world) {
    vec2 place = world.xy - SUN.xy / SUN.z * world.z;
    return vec4((place - shadow_window.xy) / shadow_window.zw, 0.0, 1.0);
}
"""
