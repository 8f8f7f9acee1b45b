// The light, the ground and the obstacles of one pane.

import * as THREE from "three";
import { niceStep } from "../numbers.ts";
import type { Geometry, Obstacle, Vec3 } from "../protocol.ts";

export interface Colors {
    background: THREE.Color;
    ground: THREE.Color;
    grid: THREE.Color;
    edge: THREE.Color;
}

const WIDE = 60;

export class Surroundings {
    readonly group = new THREE.Group();
    readonly light = new THREE.DirectionalLight(0xffffff, 2.0);
    private readonly hemisphere = new THREE.HemisphereLight(0xffffff, 0x8090a0, 1.25);
    private readonly floors = new THREE.Group();
    private readonly balls = new THREE.Group();
    private readonly texture: THREE.CanvasTexture;
    private readonly ground: THREE.MeshLambertMaterial;
    private readonly lines = new THREE.LineBasicMaterial();
    private readonly ball = new THREE.MeshPhongMaterial({ color: 0x8a93a6, shininess: 20 });
    private readonly hollow = new THREE.MeshPhongMaterial({ color: 0x8a93a6, side: THREE.BackSide, transparent: true, opacity: 0.35 });
    private readonly up = new THREE.Vector3(0, 1, 0);
    private readonly side = new THREE.Vector3(1, 0, 0);
    private size = 1;
    /** Angle of the light about the vertical, radians. */
    lightAngle = 0;

    /** `cheap`: grounds are lines instead of surfaces, for computers without a graphics card. */
    constructor(private readonly cheap: boolean) {
        this.texture = new THREE.CanvasTexture(document.createElement("canvas"));
        this.texture.wrapS = this.texture.wrapT = THREE.RepeatWrapping;
        this.texture.anisotropy = 8;
        this.texture.colorSpace = THREE.SRGBColorSpace;
        this.ground = new THREE.MeshLambertMaterial({ map: this.texture, side: THREE.DoubleSide });
        this.light.castShadow = true;
        this.light.shadow.mapSize.set(1024, 1024);
        this.light.shadow.bias = -0.0005;
        this.group.add(this.light, this.light.target, this.hemisphere, this.floors, this.balls);
    }

    recolor(colors: Colors): void {
        this.lines.color.copy(colors.grid);
        const canvas = this.texture.image as HTMLCanvasElement;
        canvas.width = canvas.height = 256;
        const pen = canvas.getContext("2d")!;
        pen.fillStyle = colors.ground.getStyle();
        pen.fillRect(0, 0, 256, 256);
        pen.strokeStyle = colors.grid.getStyle();
        pen.lineWidth = 4;
        pen.strokeRect(0, 0, 256, 256);
        pen.lineWidth = 1;
        for (let k = 1; k < 5; k++) {
            pen.globalAlpha = 0.5;
            pen.strokeRect(-1, (k * 256) / 5, 258, 0);
            pen.strokeRect((k * 256) / 5, -1, 0, 258);
        }
        pen.globalAlpha = 1;
        this.texture.needsUpdate = true;
    }

    build(geometry: Geometry, groundWanted: boolean): void {
        this.size = geometry.size;
        this.up.fromArray(geometry.up).normalize();
        this.floors.clear();
        this.balls.clear();
        for (const obstacle of geometry.obstacles) this.add(obstacle, geometry);
        if (groundWanted && this.floors.children.length === 0) this.addShownOnly(geometry);
        const reach = 1.6 * this.size;
        Object.assign(this.light.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 8 * reach });
        this.light.shadow.camera.updateProjectionMatrix();
        this.light.shadow.normalBias = 0.004 * this.size;
    }

    private add(obstacle: Obstacle, geometry: Geometry): void {
        if (obstacle.kind === "plane") {
            this.floors.add(this.floor(obstacle.point, obstacle.normal));
            return;
        }
        const radius = obstacle.inside ? obstacle.radius : ballUnder(geometry, obstacle.radius);
        const shape = new THREE.SphereGeometry(radius, 64, 40);
        const mesh = new THREE.Mesh(shape, obstacle.inside ? this.hollow : this.ball);
        mesh.position.fromArray(obstacle.center);
        mesh.receiveShadow = mesh.castShadow = !obstacle.inside;
        this.balls.add(mesh);
    }

    /** A ground below the bodies that shows the shadow; bodies do not touch it. */
    private addShownOnly(geometry: Geometry): void {
        const [low, high] = geometry.bounds;
        const center = new THREE.Vector3().fromArray(low).add(new THREE.Vector3().fromArray(high)).multiplyScalar(0.5);
        center.addScaledVector(this.up, -0.85 * this.size);
        this.floors.add(this.floor(center.toArray() as Vec3, geometry.up));
    }

    private floor(point: Vec3, normal: Vec3): THREE.Object3D {
        const ground = this.cheap ? this.grid(niceStep(this.size, 2)) : this.plane(10 ** Math.ceil(Math.log10(this.size / 2)));
        const upward = new THREE.Vector3().fromArray(normal).normalize();
        ground.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), upward);
        // Slightly lower, because a surface at the same height would flicker.
        ground.position.fromArray(point).addScaledVector(upward, -0.002 * this.size);
        return ground;
    }

    private grid(cell: number): THREE.Object3D {
        const count = 14;
        const places: number[] = [];
        // Divided into pieces, because some renderers drop a line that begins behind the camera.
        for (let k = -count; k <= count; k++) {
            for (let j = -count; j < count; j++) {
                places.push(k * cell, j * cell, 0, k * cell, (j + 1) * cell, 0, j * cell, k * cell, 0, (j + 1) * cell, k * cell, 0);
            }
        }
        const shape = new THREE.BufferGeometry().setAttribute("position", new THREE.Float32BufferAttribute(places, 3));
        return new THREE.LineSegments(shape, this.lines);
    }

    private plane(cell: number): THREE.Object3D {
        const side = Math.ceil((WIDE * this.size) / cell) * cell;
        const shape = new THREE.PlaneGeometry(2 * side, 2 * side);
        const uv = shape.attributes.uv!;
        for (let k = 0; k < uv.count; k++) uv.setXY(k, (uv.getX(k) - 0.5) * ((2 * side) / cell), (uv.getY(k) - 0.5) * ((2 * side) / cell));
        const mesh = new THREE.Mesh(shape, this.ground);
        mesh.receiveShadow = true;
        return mesh;
    }

    /** Moves the light with the body, so that its shadow stays sharp. */
    follow(center: THREE.Vector3): void {
        this.light.target.position.copy(center);
        // The angle starts at any direction perpendicular to the vertical: x + z unless that is vertical.
        this.side.set(0.6, 0, 0.8);
        if (Math.abs(this.side.dot(this.up)) > 0.9) this.side.set(0, 1, 0);
        this.side.addScaledVector(this.up, -this.side.dot(this.up)).normalize().applyAxisAngle(this.up, this.lightAngle);
        this.light.position.copy(center).addScaledVector(this.up, 3 * this.size).addScaledVector(this.side, 2 * this.size);
    }

    dispose(): void {
        this.texture.dispose();
        this.ground.dispose();
        this.lines.dispose();
        this.light.dispose();
    }
}

/**
 * The radius of a ball that is drawn so that triangles whose corners lie on it cover it: a chord of length e is e²/(8r) deeper
 * than its ends, and the middle of an equilateral triangle e²/(6r).
 */
export function ballUnder({ triangles, rest }: Geometry, radius: number): number {
    let longest = 0;
    for (let k = 0; k < triangles.length; k++) {
        const [a, b] = [3 * triangles[k]!, 3 * triangles[k % 3 === 2 ? k - 2 : k + 1]!];
        longest = Math.max(longest, (rest[a]! - rest[b]!) ** 2 + (rest[a + 1]! - rest[b + 1]!) ** 2 + (rest[a + 2]! - rest[b + 2]!) ** 2);
    }
    return Math.max(0.9 * radius, radius - Math.max(0.005 * radius, (1.3 * longest) / (6 * radius)));
}
