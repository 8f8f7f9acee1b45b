// Draws the bodies of one pane: surface, edges, points, ropes. A new frame only fills arrays.

import * as THREE from "three";
import type { Frame, Geometry } from "../protocol.ts";
import { ramp } from "../colors.ts";
import { splitAtCreases, uniqueEdges, vertexNormals } from "./creases.ts";
import { Sticks } from "./sticks.ts";

export type Style = "shaded" | "edges" | "wire" | "points";

const SHADES = 256;
const RAMP = ramp(SHADES);

const POINT_VERTEX = `
attribute float value;
uniform float size;
varying float shade;
void main() {
    shade = value;
    vec4 seen = modelViewMatrix * vec4(position, 1.0);
    gl_Position = projectionMatrix * seen;
    gl_PointSize = clamp(size * projectionMatrix[1][1] / -seen.z, 2.0, 40.0);
}`;
const POINT_FRAGMENT = `
uniform sampler2D ramp;
uniform vec3 plain;
uniform bool colored;
varying float shade;
void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    float r = dot(at, at);
    if (r > 1.0) discard;
    vec3 color = colored ? texture2D(ramp, vec2(shade, 0.5)).rgb : plain;
    gl_FragColor = vec4(color * (0.55 + 0.45 * sqrt(1.0 - r)), 1.0);
    #include <colorspace_fragment>
}`;

export class BodyView {
    readonly group = new THREE.Group();
    private readonly geometry: Geometry;
    private readonly source: Uint32Array;
    private readonly index: Uint32Array;
    /** Positions of the vertices of the mesh. */
    private readonly positions: THREE.BufferAttribute;
    private readonly values: THREE.BufferAttribute;
    /** Arrays of the drawn vertices; vertices on creases occur more than once. */
    private readonly drawn: THREE.BufferAttribute;
    private readonly normals: THREE.BufferAttribute;
    private readonly uv: THREE.BufferAttribute;

    private readonly ramp = new THREE.DataTexture(RAMP, SHADES, 1);
    private readonly skin: THREE.MeshPhongMaterial | THREE.MeshLambertMaterial;
    private readonly wire = new THREE.LineBasicMaterial({ transparent: true });
    private readonly dots: THREE.ShaderMaterial;
    private readonly ropeSkin = new THREE.MeshPhongMaterial({ shininess: 30 });

    private readonly surface: THREE.Mesh;
    private readonly edges: THREE.LineSegments;
    private readonly everyPoint: THREE.Points;
    private readonly loosePoints: THREE.Points;
    private readonly ropes: Sticks;
    private style: Style = "shaded";
    private colored = false;
    private flat = false;

    /** `cheap`: simpler materials, for computers without a graphics card. */
    constructor(geometry: Geometry, cheap: boolean) {
        const common = { side: THREE.DoubleSide, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 };
        this.skin = cheap ? new THREE.MeshLambertMaterial(common) : new THREE.MeshPhongMaterial({ ...common, shininess: 45, specular: 0x333333 });
        this.geometry = geometry;
        const vertices = geometry.rest.length / 3;
        const split = splitAtCreases(geometry.triangles, geometry.rest);
        this.source = split.source;
        this.index = split.index;
        this.positions = dynamic(Float32Array.from(geometry.rest), 3);
        this.values = dynamic(new Float32Array(vertices), 1);
        this.drawn = dynamic(new Float32Array(3 * this.source.length), 3);
        this.normals = dynamic(new Float32Array(3 * this.source.length), 3);
        this.uv = dynamic(new Float32Array(2 * this.source.length).fill(0.5), 2);
        this.ramp.minFilter = this.ramp.magFilter = THREE.LinearFilter;
        this.ramp.colorSpace = THREE.SRGBColorSpace;
        this.ramp.needsUpdate = true;
        this.dots = new THREE.ShaderMaterial({
            vertexShader: POINT_VERTEX,
            fragmentShader: POINT_FRAGMENT,
            uniforms: { size: { value: 1 }, ramp: { value: this.ramp }, plain: { value: new THREE.Color() }, colored: { value: false } },
        });

        this.surface = new THREE.Mesh(shape({ position: this.drawn, normal: this.normals, uv: this.uv }, this.index), this.skin);
        this.surface.castShadow = this.surface.receiveShadow = true;
        this.edges = new THREE.LineSegments(shape({ position: this.positions }, uniqueEdges(geometry.triangles, vertices)), this.wire);
        this.everyPoint = new THREE.Points(shape({ position: this.positions, value: this.values }, geometry.kept ?? null), this.dots);
        this.loosePoints = new THREE.Points(shape({ position: this.positions, value: this.values }, geometry.points), this.dots);
        for (const part of [this.surface, this.edges, this.everyPoint, this.loosePoints]) {
            part.frustumCulled = false;
            this.group.add(part);
        }
        this.ropes = new Sticks("rod", this.ropeSkin, Math.max(geometry.lines.length / 2, 1), this.group);
        this.ropes.mesh.castShadow = true;
        this.setStyle("shaded", false);
        this.fill(geometry.rest);
    }

    setStyle(style: Style, flat: boolean): void {
        this.style = style;
        this.flat = flat;
        this.surface.visible = style === "shaded" || style === "edges";
        this.edges.visible = style === "edges" || style === "wire";
        this.everyPoint.visible = style === "points";
        this.loosePoints.visible = style !== "points" && this.geometry.points.length > 0;
        this.ropes.mesh.visible = style !== "points";
        this.wire.opacity = style === "wire" ? 0.9 : 0.35;
        if (this.skin.flatShading !== flat) {
            this.skin.flatShading = flat;
            this.skin.needsUpdate = true;
        }
    }

    setColors(plain: THREE.Color, edge: THREE.Color): void {
        this.skin.color.copy(this.colored ? WHITE : plain);
        this.ropeSkin.color.copy(this.colored ? WHITE : plain);
        this.wire.color.copy(this.style === "wire" ? plain : edge);
        this.dots.uniforms.plain!.value.copy(plain);
    }

    /** Pixels per metre at distance 1, for the size of points. */
    setPixels(pixels: number): void {
        this.dots.uniforms.size!.value = 0.012 * this.geometry.size * pixels;
    }

    /** Sets whether a field is shown. Returns whether the plain colours have to be set again. */
    setColored(colored: boolean): boolean {
        if (this.colored === colored) return false;
        this.colored = colored;
        this.skin.map = colored ? this.ramp : null;
        this.skin.needsUpdate = true;
        this.dots.uniforms.colored!.value = colored;
        if (!colored) this.ropes.mesh.instanceColor = null;
        this.ropeSkin.needsUpdate = true;
        return true;
    }

    update(frame: Frame, field: Float32Array | null, low: number, high: number): void {
        if (frame.positions.length !== this.positions.array.length) return;
        if (field && this.colored) this.shade(field, low, high);
        this.fill(frame.positions);
    }

    private fill(x: Float32Array): void {
        (this.positions.array as Float32Array).set(x);
        this.positions.needsUpdate = true;
        if (this.surface.visible) {
            const drawn = this.drawn.array as Float32Array;
            for (let k = 0; k < this.source.length; k++) {
                const from = 3 * this.source[k]!;
                drawn[3 * k] = x[from]!;
                drawn[3 * k + 1] = x[from + 1]!;
                drawn[3 * k + 2] = x[from + 2]!;
            }
            this.drawn.needsUpdate = true;
            if (!this.flat) {
                vertexNormals(this.index, drawn, this.normals.array as Float32Array);
                this.normals.needsUpdate = true;
            }
        }
        this.fillRopes(x);
    }

    private fillRopes(x: Float32Array): void {
        const { lines, size } = this.geometry;
        if (lines.length === 0) return;
        const width = (this.style === "wire" ? 0.002 : 0.009) * size;
        this.ropes.begin();
        for (let k = 0; k < lines.length; k += 2) {
            const a = 3 * lines[k]!;
            const b = 3 * lines[k + 1]!;
            this.ropes.add(x[a]!, x[a + 1]!, x[a + 2]!, x[b]! - x[a]!, x[b + 1]! - x[a + 1]!, x[b + 2]! - x[a + 2]!, width);
        }
        this.ropes.end();
    }

    private shade(field: Float32Array, low: number, high: number): void {
        const scale = high > low ? 1 / (high - low) : 0;
        const values = this.values.array as Float32Array;
        for (let k = 0; k < values.length; k++) {
            const unit = scale ? (field[k]! - low) * scale : 0.5;
            values[k] = unit < 0 ? 0 : unit > 1 ? 1 : unit;
        }
        const uv = this.uv.array as Float32Array;
        for (let k = 0; k < this.source.length; k++) uv[2 * k] = values[this.source[k]!]!;
        this.uv.needsUpdate = true;
        this.values.needsUpdate = true;
        this.shadeRopes(values);
    }

    private shadeRopes(values: Float32Array): void {
        const { lines } = this.geometry;
        for (let k = 0; k < lines.length; k += 2) {
            const unit = (values[lines[k]!]! + values[lines[k + 1]!]!) / 2;
            const at = 4 * Math.round(unit * (SHADES - 1));
            SHADE.setRGB(RAMP[at]! / 255, RAMP[at + 1]! / 255, RAMP[at + 2]! / 255, THREE.SRGBColorSpace);
            this.ropes.mesh.setColorAt(k / 2, SHADE);
        }
        if (this.ropes.mesh.instanceColor) this.ropes.mesh.instanceColor.needsUpdate = true;
    }

    dispose(): void {
        for (const part of [this.surface, this.edges, this.everyPoint, this.loosePoints]) part.geometry.dispose();
        for (const material of [this.skin, this.wire, this.dots, this.ropeSkin]) material.dispose();
        this.ramp.dispose();
        this.ropes.dispose();
    }
}

const WHITE = new THREE.Color(0xffffff);
const SHADE = new THREE.Color();

function dynamic(array: Float32Array, size: number): THREE.BufferAttribute {
    return new THREE.BufferAttribute(array, size).setUsage(THREE.DynamicDrawUsage);
}

function shape(attributes: Record<string, THREE.BufferAttribute>, index: Uint32Array | null = null): THREE.BufferGeometry {
    const geometry = new THREE.BufferGeometry();
    for (const [name, attribute] of Object.entries(attributes)) geometry.setAttribute(name, attribute);
    if (index) geometry.setIndex(new THREE.BufferAttribute(index, 1));
    return geometry;
}
