"""GLSL 3.30 sources of the scene.

Light is computed linear and written with display gamma 2 (a square root: cheaper than
a power, and this is software rendering on many desks). The frame buffer holds blue,
green, red, alpha from the top line down, as a QImage of Format_RGB32 wants it; so every
fragment shader ends in `show`, and the projection is flipped. What depends on distance
alone (absorption and scattering of water) is worked out at the vertices.
"""

__all__ = ["PROGRAMS"]

_HEAD = """
#version 330
layout(std140) uniform Frame {
    mat4 hull_to_clip;
    vec4 eye;            // position [m], time [s]
    vec4 spot_position;  // [m], strength
    vec4 spot_direction; // unit, 0
    vec4 lamps;          // gains of skylight, sun, headlamp, haze
    vec4 picture;        // width, height [px], metres a pixel covers at 1 m, 0
};
const vec3 SUN = vec3(0.2357, 0.2910, 0.9272);
const vec3 SUN_LIGHT = vec3(0.62, 0.86, 0.84);
const vec3 SPOT_LIGHT = vec3(1.00, 0.93, 0.78);
"""

_WATER = """
vec3 water(vec3 direction) {
    vec3 deep = vec3(0.0026, 0.0125, 0.0190);
    vec3 level = vec3(0.0120, 0.0620, 0.0830);
    vec3 above = vec3(0.0420, 0.2000, 0.2450);
    vec3 color = mix(level, deep, smoothstep(0.02, -0.55, direction.z));
    color = mix(color, above, smoothstep(0.0, 1.1, direction.z));
    float glow = max(dot(direction, SUN), 0.0);
    return (color + vec3(0.03, 0.10, 0.11) * glow * glow * glow) * lamps.x;
}
// What water leaves of light from a point, and what it adds on the way to the eye.
void haze(vec3 world, out vec3 through, out vec3 added) {
    vec3 sight = world - eye.xyz;
    float reach = length(sight);
    through = exp(-reach * lamps.w * vec3(0.30, 0.115, 0.095));
    vec3 clear = exp(-reach * lamps.w * vec3(0.16, 0.15, 0.15));
    added = water(sight / max(reach, 1e-4)) * (1.0 - clear);
}
"""

_LIGHT = """
uniform sampler2D patterns;  // red: caustics, green: grain of sand
float caustics(vec2 place) {
    vec2 drift = vec2(0.013, 0.009) * eye.w;
    float one = texture(patterns, place * 0.61 + drift).r;
    float two = texture(patterns, place.yx * 0.47 - drift.yx).r;
    return min(one, two);
}
float spot(vec3 world, vec3 n) {
    vec3 ray = spot_position.xyz - world;
    float far2 = dot(ray, ray);
    float near = inversesqrt(max(far2, 1e-5));
    ray *= near;
    float cone = smoothstep(0.84, 0.965, -dot(ray, spot_direction.xyz));
    float facing = clamp(dot(n, ray) * 0.85 + 0.15, 0.0, 1.0);
    return spot_position.w * cone * facing / (0.10 + far2) * exp(-0.45 * far2 * near);
}
vec3 lit(vec3 albedo, float gloss, vec3 n, vec3 world, float shine_through) {
    vec3 v = normalize(eye.xyz - world);
    vec3 sky = mix(vec3(0.055, 0.085, 0.085), vec3(0.17, 0.36, 0.40), n.z * 0.5 + 0.5);
    float sun = max(dot(n, SUN) * 0.85 + 0.15, 0.0) * shine_through;
    float head = max(dot(n, v), 0.0);
    vec3 light = sky * lamps.x + SUN_LIGHT * (sun * lamps.y);
    light += vec3(0.95, 1.0, 1.0) * (head * lamps.z);
    float beam = spot(world, n);
    light += SPOT_LIGHT * beam;
    float s = max(dot(n, normalize(SUN + v)), 0.0);
    s *= s; s *= s; s *= s; s *= s;
    float h = head * head; h *= h; h *= h; h *= h;
    float rim = 1.0 - head; rim *= rim; rim *= rim;
    vec3 gleam = SUN_LIGHT * (s * shine_through * lamps.y) + vec3(0.5 * h * lamps.z);
    gleam += vec3(0.10, 0.24, 0.27) * rim * lamps.x;
    return albedo * light + gloss * 0.55 * gleam;
}
"""

_SHOW = """
out vec4 pixel;
void show(vec3 color, float alpha) { pixel = vec4(sqrt(color.bgr), alpha); }
"""

_BACKDROP_VERTEX = (
    _HEAD
    + _WATER
    + """
in vec2 place;
uniform mat3 place_to_hull;
out vec3 v_color;
void main() {
    v_color = water(normalize(place_to_hull * vec3(place, 1.0)));
    gl_Position = vec4(place, 0.99999, 1.0);
}
"""
)

_BACKDROP_FRAGMENT = (
    _HEAD
    + _SHOW
    + """
uniform sampler2D patterns;
in vec3 v_color;
void main() {  // a little noise hides the steps of eight bits in the dark
    float noise = texelFetch(patterns, ivec2(gl_FragCoord.xy) & 255, 0).b - 0.5;
    pixel = vec4(sqrt(v_color.bgr) + noise * 0.007, 1.0);
}
"""
)

_SOLID_VERTEX = (
    _HEAD
    + _WATER
    + """
in vec3 position;
in vec3 normal;
in vec4 color;
out vec3 v_world;
out vec3 v_normal;
out vec4 v_color;
out vec3 v_through;
out vec3 v_added;
void main() {
    v_world = position;
    v_normal = normal;
    v_color = color;
    haze(position, v_through, v_added);
    gl_Position = hull_to_clip * vec4(position, 1.0);
}
"""
)

_SOLID_FRAGMENT = (
    _HEAD
    + _LIGHT
    + _SHOW
    + """
in vec3 v_world;
in vec3 v_normal;
in vec4 v_color;
in vec3 v_through;
in vec3 v_added;
void main() {
    vec3 n = normalize(v_normal);
    vec3 color = v_color.rgb;
    if (v_color.a >= 0.0) {
        float play = 0.72 + 1.5 * caustics(v_world.xy + 0.25 * v_world.z);
        color = lit(color, v_color.a, n, v_world, play);
    }
    show(color * v_through + v_added, 1.0);
}
"""
)

_SAND_FRAGMENT = (
    _HEAD
    + _LIGHT
    + _SHOW
    + """
uniform sampler2D shadow;    // red: what the robot leaves of the sun, seen from above
uniform vec4 shadow_window;  // centre x, y and half widths [m]
in vec3 v_world;
in vec3 v_normal;
in vec4 v_color;
in vec3 v_through;
in vec3 v_added;
void main() {
    vec3 n = v_normal;
    float grain = texture(patterns, v_world.xy * 0.9).g;
    vec2 place = v_world.xy - SUN.xy / SUN.z * v_world.z;
    place = (place - shadow_window.xy) / shadow_window.zw;
    float open = texture(shadow, place * 0.5 + 0.5).r;
    float play = (0.62 + 1.9 * caustics(v_world.xy)) * open;
    vec3 sky = vec3(0.16, 0.33, 0.36) * lamps.x * (0.55 + 0.45 * open);
    vec3 light = sky + SUN_LIGHT * (max(dot(n, SUN), 0.0) * play * lamps.y);
    light += SPOT_LIGHT * spot(v_world, n);
    vec3 color = v_color.rgb * (0.62 + 0.76 * grain) * light;
    show(color * v_through + v_added, 1.0);
}
"""
)

# A limb's vertex belongs to a row of `frames`; between two rows the skin follows the
# circular arc through them: a cubic with end slopes chord * 2 / (1 + cos(angle / 2)).
_LIMB_PLACE = """
uniform sampler2D frames;
uniform int first_row;
in float row;
in vec3 position;
in vec4 normal;  // unit vector, strength of the bands
in vec4 color;
void place_limb(out vec3 world, out vec3 n, out vec3 axis) {
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
    axis = az;
}
"""

_LIMB_VERTEX = (
    _HEAD
    + _WATER
    + _LIMB_PLACE
    + """
uniform float inflate;  // [m]
out vec3 v_world;
out vec3 v_normal;
out vec4 v_color;
out vec3 v_through;
out vec3 v_added;
out vec2 v_band;        // row, strength
void main() {
    vec3 axis;
    place_limb(v_world, v_normal, axis);
    v_world += v_normal * inflate;
    v_color = color;
    v_band = vec2(row, normal.w);
    haze(v_world, v_through, v_added);
    gl_Position = hull_to_clip * vec4(v_world, 1.0);
}
"""
)

_LIMB_FRAGMENT = (
    _HEAD
    + _LIGHT
    + _SHOW
    + """
uniform vec4 state;  // saturation, brightness, opacity, highlight
in vec3 v_world;
in vec3 v_normal;
in vec4 v_color;
in vec3 v_through;
in vec3 v_added;
in vec2 v_band;
void main() {
    vec3 n = normalize(v_normal);
    float off = abs(fract(v_band.x + 0.5) - 0.5);
    float band = 1.0 - 0.30 * v_band.y * (1.0 - smoothstep(0.035, 0.10, off));
    vec3 albedo = v_color.rgb * band;
    float grey = dot(albedo, vec3(0.3, 0.55, 0.15));
    albedo = mix(vec3(0.8, 0.95, 1.0) * grey, albedo, state.x) * state.y;
    vec3 color = albedo;
    if (v_color.a >= 0.0) {
        float play = 0.80 + 0.9 * caustics(v_world.xy + 0.25 * v_world.z);
        color = lit(albedo, v_color.a, n, v_world, play);
        float rim = 1.0 - abs(dot(n, normalize(eye.xyz - v_world)));
        color += state.w * (0.06 + 0.5 * rim * rim) * v_color.rgb;
    }
    show(color * v_through + v_added, state.z);
}
"""
)

_GHOST_FRAGMENT = (
    _HEAD
    + _SHOW
    + """
uniform vec4 tone;   // linear color, opacity facing the eye
uniform float edge;  // opacity at the rim
in vec3 v_world;
in vec3 v_normal;
in vec4 v_color;
in vec3 v_through;
in vec3 v_added;
in vec2 v_band;
void main() {
    float rim = 1.0 - abs(dot(normalize(v_normal), normalize(eye.xyz - v_world)));
    float off = abs(fract(v_band.x + 0.5) - 0.5);
    float band = v_band.y * (1.0 - smoothstep(0.02, 0.09, off));
    float alpha = mix(tone.a, edge, rim * rim * rim) + 0.10 * band;
    show(tone.rgb * (0.55 + 0.75 * rim), clamp(alpha, 0.0, 1.0));
}
"""
)

_OUTLINE_VERTEX = (
    _HEAD
    + _LIMB_PLACE
    + """
uniform float width;    // [px]
uniform float inflate;  // [m]
void main() {
    vec3 world, n, axis;
    place_limb(world, n, axis);
    float reach = distance(world, eye.xyz);
    world += n * (inflate + width * picture.z * reach);
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""
)

_OUTLINE_FRAGMENT = (
    _HEAD
    + _SHOW
    + """
uniform vec4 tone;
void main() { show(tone.rgb, tone.a); }
"""
)

# The sun's view onto the sand: parallel rays, flattened to z = 0 along the sun.
_SHADOW_TAIL = """
uniform vec4 shadow_window;
vec4 flat_place(vec3 world) {
    vec2 place = world.xy - SUN.xy / SUN.z * world.z;
    return vec4((place - shadow_window.xy) / shadow_window.zw, 0.0, 1.0);
}
"""

_SHADOW_SOLID_VERTEX = (
    _HEAD
    + _SHADOW_TAIL
    + """
in vec3 position;
void main() { gl_Position = flat_place(position); }
"""
)

_SHADOW_LIMB_VERTEX = (
    _HEAD
    + _LIMB_PLACE
    + _SHADOW_TAIL
    + """
void main() {
    vec3 world, n, axis;
    place_limb(world, n, axis);
    gl_Position = flat_place(world);
}
"""
)

_SHADOW_FRAGMENT = """
#version 330
uniform float left;
out vec4 pixel;
void main() { pixel = vec4(left); }
"""

_LINE_VERTEX = (
    _HEAD
    + """
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
    vec2 along = b.xy / b.w * half_picture - a.xy / a.w * half_picture;
    along = dot(along, along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);
    float half_width = 0.5 * thickness + 1.0;
    vec4 end = corner.x < 0.5 ? a : b;
    vec2 shift = across * corner.y * half_width + along * (corner.x * 2.0 - 1.0) * 0.5;
    end.xy += shift / half_picture * end.w;
    v_color = corner.x < 0.5 ? start_color : stop_color;
    v_across = vec2(corner.y * half_width, 0.5 * thickness);
    gl_Position = end;
}
"""
)

_LINE_FRAGMENT = (
    _HEAD
    + _SHOW
    + """
uniform float strength;
in vec4 v_color;
in vec2 v_across;
void main() {
    float cover = clamp(v_across.y + 0.5 - abs(v_across.x), 0.0, 1.0);
    show(v_color.rgb, v_color.a * cover * strength);
}
"""
)

_BEAM_VERTEX = (
    _HEAD
    + """
in vec3 position;   // on a cone of unit length about z
in float away;      // 0 at the lamp, 1 at the end
uniform mat4 lamp_to_hull;
out vec3 v_normal;
out vec3 v_world;
out float v_away;
void main() {
    vec4 world = lamp_to_hull * vec4(position, 1.0);
    v_world = world.xyz;
    v_normal = mat3(lamp_to_hull) * vec3(position.xy, 0.0);
    v_away = away;
    gl_Position = hull_to_clip * world;
}
"""
)

_BEAM_FRAGMENT = (
    _HEAD
    + _SHOW
    + """
in vec3 v_normal;
in vec3 v_world;
in float v_away;
void main() {
    vec3 v = normalize(eye.xyz - v_world);
    float facing = abs(dot(normalize(v_normal), v));
    float fade = 1.0 - v_away;
    float beam = 0.16 * spot_position.w * facing * facing * fade * fade;
    show(vec3(1.0, 0.95, 0.8), beam);
}
"""
)

PROGRAMS: dict[str, tuple[str, str]] = {
    name: (vertex.strip(), fragment.strip())
    for name, (vertex, fragment) in {
        "backdrop": (_BACKDROP_VERTEX, _BACKDROP_FRAGMENT),
        "solid": (_SOLID_VERTEX, _SOLID_FRAGMENT),
        "sand": (_SOLID_VERTEX, _SAND_FRAGMENT),
        "limb": (_LIMB_VERTEX, _LIMB_FRAGMENT),
        "ghost": (_LIMB_VERTEX, _GHOST_FRAGMENT),
        "outline": (_OUTLINE_VERTEX, _OUTLINE_FRAGMENT),
        "shadow_solid": (_SHADOW_SOLID_VERTEX, _SHADOW_FRAGMENT),
        "shadow_limb": (_SHADOW_LIMB_VERTEX, _SHADOW_FRAGMENT),
        "line": (_LINE_VERTEX, _LINE_FRAGMENT),
        "beam": (_BEAM_VERTEX, _BEAM_FRAGMENT),
    }.items()
}
"""Vertex and fragment shader of every program."""
