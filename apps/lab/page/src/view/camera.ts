// One camera for all panes. It turns about a point; the "up" of the pane points upwards.

import * as THREE from "three";
import type { Vec3 } from "../protocol.ts";
import { clamp } from "../numbers.ts";

const FIELD_OF_VIEW = 35;

export class OrbitCamera {
    readonly camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 1000);
    readonly target = new THREE.Vector3();
    distance = 5;
    private azimuth = 0.6;
    private height = 0.35;
    private readonly up = new THREE.Vector3(0, 1, 0);
    private readonly right = new THREE.Vector3(1, 0, 0);
    private readonly front = new THREE.Vector3(0, 0, 1);
    private readonly scratch = new THREE.Vector3();

    setUp(up: Vec3): void {
        if (this.up.distanceTo(this.scratch.fromArray(up).normalize()) < 1e-6) return;
        this.up.copy(this.scratch);
        this.right.set(1, 0, 0);
        if (Math.abs(this.up.x) > 0.9) this.right.set(0, 0, 1);
        this.right.addScaledVector(this.up, -this.right.dot(this.up)).normalize();
        this.front.crossVectors(this.right, this.up).normalize();
        this.update();
    }

    turn(dx: number, dy: number): void {
        this.azimuth -= dx;
        this.height = clamp(this.height + dy, -1.55, 1.55);
        this.update();
    }

    /** Moves by a share of the visible height. */
    pan(dx: number, dy: number): void {
        const seen = 2 * this.distance * Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
        this.target.addScaledVector(this.scratch.setFromMatrixColumn(this.camera.matrixWorld, 0), -dx * seen);
        this.target.addScaledVector(this.scratch.setFromMatrixColumn(this.camera.matrixWorld, 1), dy * seen);
        this.update();
    }

    zoom(factor: number): void {
        this.distance = clamp(this.distance * factor, 1e-4, 1e6);
        this.update();
    }

    /** Shows all that is within `radius` of `center`, in a window of this aspect ratio. */
    frame(center: THREE.Vector3, radius: number, aspect: number): void {
        this.target.copy(center);
        const half = Math.min(1, aspect) * Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
        this.distance = (1.1 * Math.max(radius, 1e-6)) / Math.sin(Math.atan(half));
        this.update();
    }

    setAspect(aspect: number): void {
        if (Math.abs(this.camera.aspect - aspect) < 1e-6) return;
        this.camera.aspect = aspect;
        this.camera.updateProjectionMatrix();
    }

    update(): void {
        const across = Math.cos(this.height) * this.distance;
        this.camera.position
            .copy(this.target)
            .addScaledVector(this.front, Math.cos(this.azimuth) * across)
            .addScaledVector(this.right, Math.sin(this.azimuth) * across)
            .addScaledVector(this.up, Math.sin(this.height) * this.distance);
        this.camera.up.copy(this.up);
        this.camera.near = this.distance / 100;
        this.camera.far = this.distance * 100;
        this.camera.lookAt(this.target);
        this.camera.updateProjectionMatrix();
        this.camera.updateMatrixWorld();
    }
}
