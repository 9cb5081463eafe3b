"""GLSL 3.30 sources of the scene.

Written for software rendering, which many desks have: measured there, a full picture of
constant colour costs 4 ms at 1280 x 720, arithmetic is nearly free, and every texture
lookup adds 3 ms, and 6 to 10 ms where it chooses among reduced copies. So light and
haze are worked out at the vertices, only the sand has a texture, and colours are linear
until the last step, a square root in place of display gamma. The frame buffer holds
blue, green, red, alpha from the top line down, as a QImage of Format_RGB32 wants it:
every fragment shader ends in `show`, and the
projection is flipped.
"""

from app.scene.glsl import (
    APART,
    FLATTEN,
    HEAD,
    LIGHT,
    PLACE_LIMB,
    SHOW,
    SPOT,
    WATER,
)

__all__ = ["PROGRAMS"]

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

_THING_VERTEX = """
in vec3 position;
in vec3 normal;
in vec4 color;
uniform mat4 thing_to_hull;
uniform vec4 tone;  // factor on the colours, opacity
out vec3 v_color;
void main() {
    vec3 world = (thing_to_hull * vec4(position, 1.0)).xyz;
    vec3 n = normalize(mat3(thing_to_hull) * normal);
    vec3 through, added;
    haze(world, through, added);
    vec3 light = color.rgb * tone.rgb;
    if (color.a >= 0.0) light = lit(light, color.a, n, world, 0.0);
    v_color = light * through + added;
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_THING_FRAGMENT = """
in vec3 v_color;
uniform vec4 tone;
void main() { show(v_color, tone.a); }
"""

_PLAIN_FRAGMENT = """
in vec3 v_color;
void main() { show(v_color, 1.0); }
"""

_SAND_VERTEX = """
in vec3 position;
in vec3 normal;
in vec4 color;
uniform sampler2D shadow;    // red: what the robot leaves of the sun
uniform vec4 shadow_window;  // centre x, y and half widths [m]
out vec2 v_place;
out vec3 v_sun;   // what the sun gives, after the water
out vec3 v_rest;  // what sky, lamps and water give
void main() {
    vec3 through, added;
    haze(position, through, added);
    through *= color.rgb;
    vec2 place = position.xy - SUN.xy / SUN.z * position.z;
    place = (place - shadow_window.xy) / shadow_window.zw * 0.5 + 0.5;
    float open = textureLod(shadow, place, 0.0).r;
    float facing = max(dot(normal, SUN), 0.0);
    v_sun = through * SUN_LIGHT * (facing * open * 0.36 * lamps.y);
    float head = max(normalize(eye.xyz - position).z, 0.0) * 0.35 * lamps.z;
    vec3 light = vec3(0.085, 0.170, 0.215) * (lamps.x * (0.55 + 0.45 * open));
    light += SPOT_LIGHT * spot(position, normal) + vec3(head);
    v_rest = through * light + added;
    v_place = position.xy * 0.45;
    gl_Position = hull_to_clip * vec4(position, 1.0);
}
"""

_SAND_FRAGMENT = """
uniform sampler2D sand;  // red: grain, green: sunlight that waves have gathered
in vec2 v_place;
in vec3 v_sun;
in vec3 v_rest;
void main() {
    vec2 look = texture(sand, v_place).rg;
    show(v_sun * (1.9 * look.r + 1.75 * look.g - 0.35) + v_rest, 1.0);
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
        light = lit(albedo, color.a, n, world, 0.14 + 0.10 * state.w);
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
uniform vec3 swell;     // rows of base and tip, what the tip is inflated beside [m]
out float v_facing;
out float v_apart;
out vec2 v_band;
void main() {
    vec3 world, n;
    place_limb(world, n);
    float along = clamp((row - swell.x) / max(swell.y - swell.x, 1.0), 0.0, 1.0);
    world += n * (inflate + swell.z * along);
    v_facing = dot(n, normalize(eye.xyz - world));
    v_band = vec2(row, normal.w);
    v_apart = apart();
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_GHOST_FRAGMENT = """
uniform vec4 tone;   // linear color, opacity facing the eye
uniform float edge;  // opacity at the rim
in float v_facing;
in float v_apart;
in vec2 v_band;
void main() {
    float rim = 1.0 - abs(v_facing);
    float off = abs(fract(v_band.x + 0.5) - 0.5);
    float band = v_band.y * (1.0 - smoothstep(0.02, 0.08, off));
    float alpha = mix(tone.a, edge, rim * rim * rim) + 0.5 * tone.a * band;
    show(tone.rgb * (0.55 + 0.75 * rim), min(alpha * v_apart, 1.0));
}
"""

_OUTLINE_VERTEX = """
uniform float width;    // [px]
uniform float inflate;  // [m]
out float v_apart;
void main() {
    vec3 world, n;
    place_limb(world, n);
    float reach = distance(world, eye.xyz);
    world += n * (inflate + width * picture.z * reach);
    v_apart = mix(0.30, 1.0, apart());
    gl_Position = hull_to_clip * vec4(world, 1.0);
}
"""

_OUTLINE_FRAGMENT = """
uniform vec4 tone;
in float v_apart;
void main() { show(tone.rgb, tone.a * v_apart); }
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

# Waves and the width of the sun blur a shadow.
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
    "backdrop": (HEAD + WATER + _BACKDROP_VERTEX, HEAD + SHOW + _BACKDROP_FRAGMENT),
    "solid": (HEAD + WATER + LIGHT + _SOLID_VERTEX, HEAD + SHOW + _PLAIN_FRAGMENT),
    "thing": (HEAD + WATER + LIGHT + _THING_VERTEX, HEAD + SHOW + _THING_FRAGMENT),
    "sand": (
        HEAD + WATER + SPOT + _SAND_VERTEX,
        HEAD + SHOW + _SAND_FRAGMENT,
    ),
    "limb": (
        HEAD + WATER + LIGHT + PLACE_LIMB + _LIMB_VERTEX,
        HEAD + SHOW + _LIMB_FRAGMENT,
    ),
    "ghost": (
        HEAD + PLACE_LIMB + APART + _GHOST_VERTEX,
        HEAD + SHOW + _GHOST_FRAGMENT,
    ),
    "outline": (
        HEAD + PLACE_LIMB + APART + _OUTLINE_VERTEX,
        HEAD + SHOW + _OUTLINE_FRAGMENT,
    ),
    "shadow_solid": (HEAD + FLATTEN + _SHADOW_SOLID_VERTEX, HEAD + _SHADOW_FRAGMENT),
    "shadow_limb": (
        HEAD + PLACE_LIMB + FLATTEN + _SHADOW_LIMB_VERTEX,
        HEAD + _SHADOW_FRAGMENT,
    ),
    "blur": (HEAD + _BLUR_VERTEX, HEAD + _BLUR_FRAGMENT),
    "line": (HEAD + _LINE_VERTEX, HEAD + SHOW + _LINE_FRAGMENT),
    "beam": (HEAD + _BEAM_VERTEX, HEAD + SHOW + _BEAM_FRAGMENT),
}
"""Vertex and fragment shader of every program."""
