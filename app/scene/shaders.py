"""GLSL 3.30 sources of the scene.

Written for software rendering, which many desks have: measured there, a full picture of
constant colour costs 4 ms at 1280 x 720, arithmetic is nearly free, and every texture
lookup adds 3 to 6 ms. So light and haze are worked out at the vertices, only the sand
has a texture, and colours are linear until the last step, a square root in place of
display gamma. The frame buffer holds blue, green, red, alpha from the top line down, as
a QImage of Format_RGB32 wants it: every fragment shader ends in `show`, and the
projection is flipped.
"""

__all__ = ["PROGRAMS", "SUN"]

SUN = (0.2357, 0.2910, 0.9272)
"""Unit vector towards the sun, hull frame."""

_HEAD = f"""
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
const vec3 SUN_LIGHT = vec3(0.86, 0.98, 0.95);
const vec3 SPOT_LIGHT = vec3(1.00, 0.93, 0.78);
"""

_WATER = """
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

_SPOT = """
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

_LIGHT = (
    _SPOT
    + """
// Sunlight that waves have gathered: soft patches, finer than the vertices allow no use.
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

_SHOW = """
out vec4 pixel;
void show(vec3 color, float alpha) { pixel = vec4(sqrt(color.bgr), alpha); }
"""

_BACKDROP_VERTEX = """
in vec2 place;
uniform mat3 place_to_hull;
out vec3 v_color;
void main() {
    v_color = sqrt(water(normalize(place_to_hull * vec3(place, 1.0))).bgr);
    gl_Position = vec4(place, 0.99999, 1.0);
}
"""

_BACKDROP_FRAGMENT = """
in vec3 v_color;
void main() {  // a little noise hides the steps of eight bits in the dark
    float noise = fract(52.98 * fract(dot(gl_FragCoord.xy, vec2(0.0671, 0.00584))));
    pixel = vec4(v_color + (noise - 0.5) * 0.006, 1.0);
}
"""

_SOLID_VERTEX = """
in vec3 position;
in vec3 normal;
in vec4 color;
out vec3 v_color;
void main() {
    vec3 through, added;
    haze(position, through, added);
    vec3 light = color.rgb;
    if (color.a >= 0.0) light = lit(color.rgb, color.a, normal, position, 0.0);
    v_color = light * through + added;
    gl_Position = hull_to_clip * vec4(position, 1.0);
}
"""

_PLAIN_FRAGMENT = """
in vec3 v_color;
void main() { show(v_color, 1.0); }
"""

_SAND_VERTEX = """
in vec3 position;
in vec3 normal;
in vec4 color;
out vec3 v_world;
out vec3 v_sun;    // what the sun gives, after the water
out vec3 v_sky;    // what the sky gives
out vec3 v_through;
out vec3 v_added;
void main() {
    v_world = position;
    haze(position, v_through, v_added);
    v_through *= color.rgb;
    float facing = max(dot(normal, SUN), 0.0);
    v_sun = v_through * SUN_LIGHT * (facing * 0.62 * lamps.y);
    vec3 headlamp = vec3(0.5 * lamps.z * max(normalize(eye.xyz - position).z, 0.0));
    v_sky = v_through * (vec3(0.17, 0.27, 0.29) * lamps.x + headlamp);
    gl_Position = hull_to_clip * vec4(position, 1.0);
}
"""

_SAND_FRAGMENT = (
    _SPOT
    + """
uniform sampler2D sand;      // red: grain, green: sunlight that waves have gathered
uniform sampler2D shadow;    // red: what the robot leaves of the sun
uniform vec4 shadow_window;  // centre x, y and half widths [m]
in vec3 v_world;
in vec3 v_sun;
in vec3 v_sky;
in vec3 v_through;
in vec3 v_added;
void main() {
    vec2 look = texture(sand, v_world.xy * 0.45).rg;
    vec2 place = v_world.xy - SUN.xy / SUN.z * v_world.z;
    place = (place - shadow_window.xy) / shadow_window.zw * 0.5 + 0.5;
    float open = textureLod(shadow, place, 0.0).r;
    vec3 light = v_sun * (open * (0.55 + 2.2 * look.g)) + v_sky * (0.5 + 0.5 * open);
    light += v_through * SPOT_LIGHT * spot(v_world, vec3(0.0, 0.0, 1.0));
    show(light * (0.5 + look.r) + v_added, 1.0);
}
"""
)

_FAR_SAND_FRAGMENT = """
uniform sampler2D sand;
in vec3 v_world;
in vec3 v_sun;
in vec3 v_sky;
in vec3 v_through;
in vec3 v_added;
void main() {
    vec2 look = texture(sand, v_world.xy * 0.45).rg;
    vec3 light = v_sun * (0.55 + 2.2 * look.g) + v_sky;
    show(light * (0.5 + look.r) + v_added, 1.0);
}
"""

# A limb's vertex belongs to a row of `frames`; between two rows the skin follows the
# circular arc through them: a cubic with end slopes chord * 2 / (1 + cos(angle / 2)).
_PLACE_LIMB = """
uniform sampler2D frames;
uniform int first_row;
in float row;
in vec3 position;
in vec4 normal;  // unit vector, strength of the bands
in vec4 color;
void place_limb(out vec3 world, out vec3 n) {
    int whole = int(row);
    float t = row - float(whole);
    vec4 x = texelFetch(frames, ivec2(0, first_row + whole), 0);
    vec4 y = texelFetch(frames, ivec2(1, first_row + whole), 0);
    vec4 z = texelFetch(frames, ivec2(2, first_row + whole), 0);
    vec3 origin = vec3(x.w, y.w, z.w);
    vec3 ax = x.xyz, ay = y.xyz, az = z.xyz;
    if (t > 0.001) {
        vec4 x1 = texelFetch(frames, ivec2(0, first_row + whole + 1), 0);
        vec4 y1 = texelFetch(frames, ivec2(1, first_row + whole + 1), 0);
        vec4 z1 = texelFetch(frames, ivec2(2, first_row + whole + 1), 0);
        vec3 next = vec3(x1.w, y1.w, z1.w);
        float chord = distance(origin, next);
        float half_cosine = sqrt(0.5 + 0.5 * clamp(dot(az, z1.xyz), -1.0, 1.0));
        float slope = 2.0 * chord / (1.0 + half_cosine);
        float t2 = t * t, t3 = t2 * t;
        origin = (2.0 * t3 - 3.0 * t2 + 1.0) * origin + (3.0 * t2 - 2.0 * t3) * next
            + slope * ((t3 - 2.0 * t2 + t) * az + (t3 - t2) * z1.xyz);
        ax = normalize(mix(ax, x1.xyz, t));
        ay = normalize(mix(ay, y1.xyz, t));
        az = normalize(mix(az, z1.xyz, t));
    }
    world = origin + ax * position.x + ay * position.y + az * position.z;
    n = ax * normal.x + ay * normal.y + az * normal.z;
}
"""

_LIMB_VERTEX = """
uniform vec4 state;  // saturation, brightness, opacity, highlight
out vec3 v_color;    // what the skin sends
out vec3 v_added;    // what the water adds
out vec2 v_band;     // row, strength
void main() {
    vec3 world, n, through;
    place_limb(world, n);
    haze(world, through, v_added);
    float grey = dot(color.rgb, vec3(0.3, 0.55, 0.15));
    vec3 albedo = mix(vec3(0.8, 0.95, 1.0) * grey, color.rgb, state.x) * state.y;
    vec3 light = albedo;
    if (color.a >= 0.0) {
        light = lit(albedo, color.a, n, world, 0.10 + 0.10 * state.w);
        float rim = 1.0 - abs(dot(n, normalize(eye.xyz - world)));
        light += state.w * 0.4 * rim * rim * albedo;
    }
    v_color = light * through;
    v_band = vec2(row, normal.w);
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_LIMB_FRAGMENT = """
uniform vec4 state;
in vec3 v_color;
in vec3 v_added;
in vec2 v_band;
void main() {
    float off = abs(fract(v_band.x + 0.5) - 0.5);
    float band = 1.0 - 0.34 * v_band.y * (1.0 - smoothstep(0.03, 0.09, off));
    show(v_color * band + v_added, state.z);
}
"""

_GHOST_VERTEX = """
uniform float inflate;  // [m]
out float v_facing;
out vec2 v_band;
void main() {
    vec3 world, n;
    place_limb(world, n);
    world += n * inflate;
    v_facing = dot(n, normalize(eye.xyz - world));
    v_band = vec2(row, normal.w);
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_GHOST_FRAGMENT = """
uniform vec4 tone;   // linear color, opacity facing the eye
uniform float edge;  // opacity at the rim
in float v_facing;
in vec2 v_band;
void main() {
    float rim = 1.0 - abs(v_facing);
    float off = abs(fract(v_band.x + 0.5) - 0.5);
    float band = v_band.y * (1.0 - smoothstep(0.02, 0.08, off));
    float alpha = mix(tone.a, edge, rim * rim * rim) + 0.5 * tone.a * band;
    show(tone.rgb * (0.55 + 0.75 * rim), min(alpha, 1.0));
}
"""

_OUTLINE_VERTEX = """
uniform float width;    // [px]
uniform float inflate;  // [m]
void main() {
    vec3 world, n;
    place_limb(world, n);
    float reach = distance(world, eye.xyz);
    world += n * (inflate + width * picture.z * reach);
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_OUTLINE_FRAGMENT = """
uniform vec4 tone;
void main() { show(tone.rgb, tone.a); }
"""

# The sun's view onto the sand: parallel rays, followed to z = 0.
_FLATTEN = """
uniform vec4 shadow_window;
vec4 flatten(vec3 world) {
    vec2 place = world.xy - SUN.xy / SUN.z * world.z;
    return vec4((place - shadow_window.xy) / shadow_window.zw, 0.0, 1.0);
}
"""

_SHADOW_SOLID_VERTEX = """
in vec3 position;
void main() { gl_Position = flatten(position); }
"""

_SHADOW_LIMB_VERTEX = """
void main() {
    vec3 world, n;
    place_limb(world, n);
    gl_Position = flatten(world);
}
"""

_SHADOW_FRAGMENT = """
out vec4 pixel;
void main() { pixel = vec4(0.0); }
"""

# Waves and the width of the sun blur a shadow; once for a still robot, so taps are cheap.
_BLUR_VERTEX = """
in vec2 place;
out vec2 v_place;
void main() {
    v_place = place * 0.5 + 0.5;
    gl_Position = vec4(place, 0.0, 1.0);
}
"""

_BLUR_FRAGMENT = """
uniform sampler2D shadow;
uniform vec2 tap;
in vec2 v_place;
out vec4 pixel;
void main() {
    float sum = 0.0;
    for (int k = -3; k <= 3; ++k)
        sum += textureLod(shadow, v_place + float(k) * tap, 0.0).r
            * (k == 0 ? 0.22 : 0.26 - 0.06 * abs(float(k)));
    pixel = vec4(sum / 1.06);
}
"""

_LINE_VERTEX = """
in vec2 corner;      // end 0..1, side -1..1
in vec3 start;
in vec3 stop;
in vec4 start_color;
in vec4 stop_color;
in float thickness;  // [px]
out vec4 v_color;
out vec2 v_across;   // [px] from the middle, half width
void main() {
    vec4 a = hull_to_clip * vec4(start, 1.0);
    vec4 b = hull_to_clip * vec4(stop, 1.0);
    const float NEAR = 0.02;
    if (a.w < NEAR) a = mix(a, b, (NEAR - a.w) / max(b.w - a.w, 1e-6));
    if (b.w < NEAR) b = mix(b, a, (NEAR - b.w) / max(a.w - b.w, 1e-6));
    vec2 half_picture = 0.5 * picture.xy;
    vec2 along = (b.xy / b.w - a.xy / a.w) * half_picture;
    along = dot(along, along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    float half_width = 0.5 * thickness + 1.0;
    vec4 end = corner.x < 0.5 ? a : b;
    vec2 shift = across * corner.y * half_width + along * (corner.x - 0.5);
    end.xy += shift / half_picture * end.w;
    v_color = corner.x < 0.5 ? start_color : stop_color;
    v_across = vec2(corner.y * half_width, 0.5 * thickness);
    gl_Position = end;
}
"""

_LINE_FRAGMENT = """
uniform float strength;
in vec4 v_color;
in vec2 v_across;
void main() {
    float cover = clamp(v_across.y + 0.5 - abs(v_across.x), 0.0, 1.0);
    show(v_color.rgb, v_color.a * cover * strength);
}
"""

_BEAM_VERTEX = """
in vec3 position;  // on a cone about z, its end at z = 1
uniform mat4 lamp_to_hull;
out vec3 v_world;
out vec3 v_normal;
out float v_fade;
void main() {
    vec4 world = lamp_to_hull * vec4(position, 1.0);
    v_world = world.xyz;
    v_normal = mat3(lamp_to_hull) * vec3(position.xy, 0.0);
    v_fade = (1.0 - position.z) * smoothstep(0.0, 0.05, position.z);
    gl_Position = hull_to_clip * world;
}
"""

_BEAM_FRAGMENT = """
in vec3 v_world;
in vec3 v_normal;
in float v_fade;
void main() {
    float facing = dot(normalize(v_normal), normalize(eye.xyz - v_world));
    facing = max(facing, 0.0);
    float beam = 0.20 * spot_position.w * facing * facing * v_fade * v_fade;
    show(vec3(1.0, 0.96, 0.84), beam);
}
"""

PROGRAMS: dict[str, tuple[str, str]] = {
    "backdrop": (_HEAD + _WATER + _BACKDROP_VERTEX, _HEAD + _SHOW + _BACKDROP_FRAGMENT),
    "solid": (_HEAD + _WATER + _LIGHT + _SOLID_VERTEX, _HEAD + _SHOW + _PLAIN_FRAGMENT),
    "sand": (_HEAD + _WATER + _SAND_VERTEX, _HEAD + _SHOW + _SAND_FRAGMENT),
    "far_sand": (_HEAD + _WATER + _SAND_VERTEX, _HEAD + _SHOW + _FAR_SAND_FRAGMENT),
    "limb": (
        _HEAD + _WATER + _LIGHT + _PLACE_LIMB + _LIMB_VERTEX,
        _HEAD + _SHOW + _LIMB_FRAGMENT,
    ),
    "ghost": (_HEAD + _PLACE_LIMB + _GHOST_VERTEX, _HEAD + _SHOW + _GHOST_FRAGMENT),
    "outline": (
        _HEAD + _PLACE_LIMB + _OUTLINE_VERTEX,
        _HEAD + _SHOW + _OUTLINE_FRAGMENT,
    ),
    "shadow_solid": (_HEAD + _FLATTEN + _SHADOW_SOLID_VERTEX, _HEAD + _SHADOW_FRAGMENT),
    "shadow_limb": (
        _HEAD + _PLACE_LIMB + _FLATTEN + _SHADOW_LIMB_VERTEX,
        _HEAD + _SHADOW_FRAGMENT,
    ),
    "blur": (_HEAD + _BLUR_VERTEX, _HEAD + _BLUR_FRAGMENT),
    "line": (_HEAD + _LINE_VERTEX, _HEAD + _SHOW + _LINE_FRAGMENT),
    "beam": (_HEAD + _BEAM_VERTEX, _HEAD + _SHOW + _BEAM_FRAGMENT),
}
"""Vertex and fragment shader of every program."""
