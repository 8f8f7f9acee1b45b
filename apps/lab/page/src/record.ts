// Records the canvas as pictures, videos and image sequences.

import { download } from "./dom.ts";
import type { View } from "./view/view.ts";
import { zip } from "./zip.ts";

/** Memory that the pictures of a sequence may take, bytes. */
const MOST = 400e6;

export class Recorder {
    onChange: () => void = () => {};
    private video: MediaRecorder | null = null;
    private images: { name: string; data: Uint8Array }[] | null = null;
    private bytes = 0;
    /** What the video has so far. */
    videoBytes = 0;
    private busy = false;
    /** The cut steps of the current recording. */
    private cut: string | null = null;

    /** `cuts` returns a text about cut steps, which marks the recording. */
    constructor(private readonly view: View, private readonly say: (text: string) => void, private readonly cuts: () => string | null) {}

    get filming(): boolean {
        return this.video !== null;
    }

    get collecting(): boolean {
        return this.images !== null;
    }

    private name(ending: string, cut: string | null): string {
        return `lilyan-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}${cut === null ? "" : "-after-cut-steps"}.${ending}`;
    }

    private picture(): Promise<Blob | null> {
        // The buffer exists only until the browser shows it, so the canvas is drawn and read in one task.
        this.view.draw();
        return new Promise((resolve) => this.view.canvas.toBlob(resolve, "image/png"));
    }

    async screenshot(): Promise<void> {
        const cut = this.cuts();
        const blob = await this.picture();
        if (blob) download(this.name("png", cut), blob);
    }

    toggleVideo(): void {
        if (this.video) {
            this.video.stop();
            return;
        }
        const type = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"].find((kind) => window.MediaRecorder?.isTypeSupported(kind));
        if (!type) {
            this.say("This browser cannot record WebM videos; take an image sequence instead.");
            return;
        }
        const parts: Blob[] = [];
        const video = new MediaRecorder(this.view.canvas.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
        this.videoBytes = 0;
        video.ondataavailable = ({ data }) => {
            parts.push(data);
            this.videoBytes += data.size;
        };
        video.onstop = () => {
            for (const track of video.stream.getTracks()) track.stop();
            this.video = null;
            this.onChange();
            download(this.name("webm", this.cut), new Blob(parts, { type: "video/webm" }));
        };
        video.onerror = () => this.say("The video could not be recorded.");
        this.begin();
        video.start(500);
        this.video = video;
        this.onChange();
    }

    toggleImages(): void {
        if (!this.images) {
            this.begin();
            this.images = [];
            this.bytes = 0;
        } else {
            const files = this.images;
            this.images = null;
            const mark = this.cut === null ? [] : [{ name: "after-cut-steps.txt", data: new TextEncoder().encode(`${this.cut}\n`) }];
            if (files.length > 0) download(this.name("zip", this.cut), zip([...files, ...mark]));
        }
        this.onChange();
    }

    /** Starts a recording. The mark of another recording that is still running stays. */
    private begin(): void {
        this.cut = this.cuts() ?? (this.filming || this.collecting ? this.cut : null);
    }

    /** Adds the new frame to the sequence, unless the last one is still being encoded. */
    async frame(): Promise<void> {
        this.cut = this.cuts() ?? this.cut;
        if (!this.images || this.busy) return;
        this.busy = true;
        const blob = await this.picture();
        if (blob && this.images) {
            const data = new Uint8Array(await blob.arrayBuffer());
            this.images?.push({ name: `frame-${String(this.images.length + 1).padStart(5, "0")}.png`, data });
            this.bytes += data.length;
        }
        this.busy = false;
        if (this.bytes > MOST && this.images) {
            this.say("The image sequence ends here, because more images do not fit into memory.");
            this.toggleImages();
        }
    }
}
