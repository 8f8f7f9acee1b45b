// Draws many straight pieces with one call: ropes, arrows, the coil of a spring.

import * as THREE from "three";

/** A cylinder along +y from 0 to 1 with radius 1. */
function rod(sides: number): THREE.BufferGeometry {
    return new THREE.CylinderGeometry(1, 1, 1, sides, 1, false).translate(0, 0.5, 0);
}

function arrow(sides: number): THREE.BufferGeometry {
    const profile = [[0, 0], [0.35, 0], [0.35, 0.72], [1, 0.72], [0, 1]].map(([r, y]) => new THREE.Vector2(r, y));
    return new THREE.LatheGeometry(profile, sides);
}

export class Sticks {
    mesh: THREE.InstancedMesh;
    private count = 0;

    constructor(
        kind: "rod" | "arrow",
        private readonly material: THREE.Material,
        capacity = 64,
        private readonly parent: THREE.Object3D | null = null,
    ) {
        this.mesh = this.make(kind === "rod" ? rod(8) : arrow(8), capacity);
    }

    private make(geometry: THREE.BufferGeometry, capacity: number): THREE.InstancedMesh {
        const mesh = new THREE.InstancedMesh(geometry, this.material, capacity);
        mesh.frustumCulled = false;
        mesh.count = 0;
        mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
        this.parent?.add(mesh);
        return mesh;
    }

    begin(expected = 0): void {
        this.count = 0;
        const capacity = this.mesh.instanceMatrix.count;
        if (expected > capacity) this.grow(Math.max(expected, 2 * capacity));
    }

    private grow(capacity: number): void {
        const old = this.mesh;
        this.parent?.remove(old);
        this.mesh = this.make(old.geometry, capacity);
        this.mesh.castShadow = old.castShadow;
        this.mesh.visible = old.visible;
        this.mesh.renderOrder = old.renderOrder;
        old.dispose();
    }

    /** Adds a piece from (x, y, z) along (dx, dy, dz). Pieces beyond the number given to `begin` are left out. */
    add(x: number, y: number, z: number, dx: number, dy: number, dz: number, width: number): void {
        const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
        if (!(length > 0) || this.count >= this.mesh.instanceMatrix.count) return;
        const m = this.mesh.instanceMatrix.array as Float32Array;
        const k = 16 * this.count++;
        const nx = dx / length, ny = dy / length, nz = dz / length;
        // Two perpendicular directions: n × the axis that is furthest from n, and n × this direction.
        let ax = 0, ay = nz, az = -ny;
        if (Math.abs(nx) > 0.7) {
            ax = -nz;
            ay = 0;
            az = nx;
        }
        const across = width / Math.sqrt(ax * ax + ay * ay + az * az);
        ax *= across;
        ay *= across;
        az *= across;
        m[k] = ax;
        m[k + 1] = ay;
        m[k + 2] = az;
        m[k + 3] = 0;
        m[k + 4] = dx;
        m[k + 5] = dy;
        m[k + 6] = dz;
        m[k + 7] = 0;
        m[k + 8] = ay * nz - az * ny;
        m[k + 9] = az * nx - ax * nz;
        m[k + 10] = ax * ny - ay * nx;
        m[k + 11] = 0;
        m[k + 12] = x;
        m[k + 13] = y;
        m[k + 14] = z;
        m[k + 15] = 1;
    }

    end(): void {
        this.mesh.count = this.count;
        this.mesh.instanceMatrix.needsUpdate = true;
    }

    clear(): void {
        this.mesh.count = this.count = 0;
    }

    dispose(): void {
        this.parent?.remove(this.mesh);
        this.mesh.geometry.dispose();
        this.mesh.dispose();
    }
}
