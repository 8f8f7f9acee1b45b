// Draws forces, momenta, pins, contacts, the spring of a grab and the arrow of a tool.

import * as THREE from "three";
import type { Frame, Geometry, Vec3 } from "../protocol.ts";
import { CURVES } from "../colors.ts";
import { Sticks } from "./sticks.ts";

/** Arrows shorter than this share of the longest are not drawn, since they would be dots. */
const SMALLEST = 0.03;
const COILS = 9;
const PER_COIL = 8;

export interface Drawn {
    forces: boolean;
    contacts: boolean;
    outside: boolean;
    momenta: boolean;
    each: boolean;
    pins: boolean;
}

export class Overlay {
    readonly group = new THREE.Group();
    private readonly forces = this.sticks("arrow", 0xf2b134);
    private readonly outside = this.sticks("arrow", 0x3ccb94);
    private readonly each = this.sticks("arrow", 0x8fd0ff);
    private readonly contacts = this.sticks("arrow", 0xff6b4a);
    private readonly momentum = this.sticks("arrow", new THREE.Color(CURVES.momentum).getHex(), 1, true);
    private readonly angular = this.sticks("arrow", new THREE.Color(CURVES.angular).getHex(), 1, true);
    private readonly spring = this.sticks("rod", 0xff5a5f, COILS * PER_COIL, true);
    private readonly tool = this.sticks("arrow", 0xff5a5f, 1, true);
    private readonly pins: THREE.InstancedMesh;
    private readonly marks: THREE.InstancedMesh;
    private readonly handle: THREE.Mesh;
    private readonly watched: THREE.Mesh;
    /** The longest arrow so far, so that the scale does not follow noise. */
    private readonly longest = new Map<Sticks, number>();
    private contactScale = 0;
    private momentumScale = 0;
    private angularScale = 0;

    constructor(private readonly geometry: Geometry) {
        const { size } = geometry;
        const ball = new THREE.OctahedronGeometry(0.018 * size, 0);
        this.pins = new THREE.InstancedMesh(ball, flat(0xff5a5f), Math.max(geometry.pinned.length, 1));
        this.marks = new THREE.InstancedMesh(new THREE.SphereGeometry(0.012 * size, 8, 6), flat(0xffffff), 4096);
        this.handle = new THREE.Mesh(new THREE.SphereGeometry(0.02 * size, 12, 8), flat(0xff5a5f, true));
        this.watched = new THREE.Mesh(new THREE.SphereGeometry(0.016 * size, 12, 8), flat(0xffffff, true));
        this.handle.renderOrder = this.watched.renderOrder = 1;
        for (const mesh of [this.pins, this.marks]) {
            mesh.frustumCulled = false;
            mesh.count = 0;
        }
        this.handle.visible = this.watched.visible = false;
        this.group.add(this.pins, this.marks, this.handle, this.watched);
    }

    /** `above`: visible through the body. */
    private sticks(kind: "rod" | "arrow", color: number, capacity = 64, above = false): Sticks {
        const sticks = new Sticks(kind, flat(color, above), capacity, this.group);
        if (above) sticks.mesh.renderOrder = 1;
        return sticks;
    }

    update(frame: Frame, drawn: Drawn, center: THREE.Vector3): void {
        const x = frame.positions;
        this.drawArrows(this.forces, drawn.forces ? frame.forces : null, x);
        this.drawArrows(this.outside, drawn.outside ? frame.outside : null, x);
        this.drawArrows(this.each, drawn.each ? frame.momenta : null, x);
        const chosen = frame.watched?.vertex ?? null;
        this.watched.visible = chosen !== null;
        if (chosen !== null) this.watched.position.fromArray(x, 3 * chosen);
        this.drawContacts(drawn.contacts ? frame.contacts : null);
        this.momentumScale = this.drawTotal(this.momentum, drawn.momenta ? frame.momentum : null, center, this.momentumScale);
        this.angularScale = this.drawTotal(this.angular, drawn.momenta ? frame.angular : null, center, this.angularScale);
        this.drawPins(drawn.pins ? this.geometry.pinned : null, x);
        this.drawSpring(frame);
    }

    /** One arrow per vertex. */
    private drawArrows(sticks: Sticks, vectors: Float32Array | null, x: Float32Array): void {
        sticks.begin(vectors ? vectors.length / 3 : 0);
        if (vectors) {
            let largest = 0;
            for (let k = 0; k < vectors.length; k += 3) largest = Math.max(largest, vectors[k]! ** 2 + vectors[k + 1]! ** 2 + vectors[k + 2]! ** 2);
            const longest = Math.max(Math.sqrt(largest), 0.98 * (this.longest.get(sticks) ?? 0));
            this.longest.set(sticks, longest);
            const scale = longest > 0 ? (0.25 * this.geometry.size) / longest : 0;
            for (let k = 0; k < vectors.length; k += 3) {
                const length = Math.sqrt(vectors[k]! ** 2 + vectors[k + 1]! ** 2 + vectors[k + 2]! ** 2);
                if (length <= SMALLEST * longest) continue;
                const width = 0.003 * this.geometry.size + 0.04 * length * scale;
                sticks.add(x[k]!, x[k + 1]!, x[k + 2]!, vectors[k]! * scale, vectors[k + 1]! * scale, vectors[k + 2]! * scale, width);
            }
        }
        sticks.end();
    }

    /** Six numbers per contact: position and force. */
    private drawContacts(contacts: Float32Array | null): void {
        const count = contacts ? contacts.length / 6 : 0;
        this.contacts.begin(count);
        let marks = 0;
        if (contacts && count > 0) {
            let largest = 0;
            for (let k = 0; k < contacts.length; k += 6) largest = Math.max(largest, Math.hypot(contacts[k + 3]!, contacts[k + 4]!, contacts[k + 5]!));
            this.contactScale = Math.max(largest, 0.98 * this.contactScale);
            const scale = this.contactScale > 0 ? (0.3 * this.geometry.size) / this.contactScale : 0;
            for (let k = 0; k < contacts.length; k += 6) {
                const [x, y, z] = [contacts[k]!, contacts[k + 1]!, contacts[k + 2]!];
                const width = 0.008 * this.geometry.size;
                this.contacts.add(x, y, z, contacts[k + 3]! * scale, contacts[k + 4]! * scale, contacts[k + 5]! * scale, width);
                if (marks < 4096) this.marks.setMatrixAt(marks++, PLACE.makeTranslation(x, y, z));
            }
        }
        this.contacts.end();
        this.marks.count = marks;
        this.marks.instanceMatrix.needsUpdate = true;
    }

    private drawTotal(sticks: Sticks, vector: Vec3 | null, center: THREE.Vector3, longest: number): number {
        sticks.begin();
        let scale = longest;
        if (vector) {
            scale = Math.max(longest, Math.hypot(...vector));
            const factor = scale > 0 ? (0.7 * this.geometry.size) / scale : 0;
            sticks.add(center.x, center.y, center.z, vector[0] * factor, vector[1] * factor, vector[2] * factor, 0.025 * this.geometry.size);
        }
        sticks.end();
        return scale;
    }

    private drawPins(pinned: Uint32Array | null, x: Float32Array): void {
        this.pins.count = pinned?.length ?? 0;
        if (!pinned) return;
        for (let k = 0; k < pinned.length; k++) {
            const at = 3 * pinned[k]!;
            this.pins.setMatrixAt(k, PLACE.makeTranslation(x[at]!, x[at + 1]!, x[at + 2]!));
        }
        this.pins.instanceMatrix.needsUpdate = true;
    }

    private drawSpring({ grab, positions }: Frame): void {
        this.handle.visible = grab !== null;
        if (!grab) return this.spring.clear();
        const at = 3 * grab.vertex;
        FROM.set(positions[at]!, positions[at + 1]!, positions[at + 2]!);
        TO.fromArray(grab.to);
        this.handle.position.copy(TO);
        AXIS.subVectors(TO, FROM);
        const { size } = this.geometry;
        SIDE.set(Math.abs(AXIS.x) < Math.abs(AXIS.y) ? 1 : 0, Math.abs(AXIS.x) < Math.abs(AXIS.y) ? 0 : 1, 0).cross(AXIS).normalize();
        OTHER.crossVectors(AXIS, SIDE).normalize();
        const radius = Math.min(0.02 * size, 0.2 * AXIS.length());
        const total = COILS * PER_COIL;
        this.spring.begin(total);
        NOW.copy(FROM);
        for (let k = 1; k <= total; k++) {
            const angle = (2 * Math.PI * k) / PER_COIL;
            const r = k === total ? 0 : radius;
            NEXT.copy(FROM).addScaledVector(AXIS, k / total).addScaledVector(SIDE, r * Math.cos(angle)).addScaledVector(OTHER, r * Math.sin(angle));
            this.spring.add(NOW.x, NOW.y, NOW.z, NEXT.x - NOW.x, NEXT.y - NOW.y, NEXT.z - NOW.z, 0.004 * size);
            NOW.copy(NEXT);
        }
        this.spring.end();
    }

    /** The arrow of the current tool; `null` for none. */
    drawTool(from: THREE.Vector3 | null, along: THREE.Vector3): void {
        this.tool.begin();
        if (from) this.tool.add(from.x, from.y, from.z, along.x, along.y, along.z, 0.022 * this.geometry.size);
        this.tool.end();
    }

    dispose(): void {
        for (const sticks of [this.forces, this.outside, this.each, this.contacts, this.momentum, this.angular, this.spring, this.tool]) sticks.dispose();
        for (const mesh of [this.pins, this.marks]) {
            mesh.geometry.dispose();
            mesh.dispose();
        }
        this.handle.geometry.dispose();
        this.watched.geometry.dispose();
    }
}

const PLACE = new THREE.Matrix4();
const FROM = new THREE.Vector3();
const TO = new THREE.Vector3();
const AXIS = new THREE.Vector3();
const SIDE = new THREE.Vector3();
const OTHER = new THREE.Vector3();
const NOW = new THREE.Vector3();
const NEXT = new THREE.Vector3();

function flat(color: number, above = false): THREE.Material {
    return new THREE.MeshLambertMaterial({ color, emissive: new THREE.Color(color).multiplyScalar(0.35), depthTest: !above, depthWrite: !above });
}
