// Pictures, videos and image sequences of the canvas.

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
    private busy = false;
    /** What was cut in what is being recorded. */
    private cut: string | null = null;

    /** `cuts` tells what was cut on the way to what is shown: nobody shall take it for a full run. */
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
        // The buffer is only there until the browser shows it: draw, and read in the same breath.
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
        video.ondataavailable = ({ data }) => void (data.size > 0 && parts.push(data));
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

    /** A recording begins; what an earlier one has seen stays as long as that goes on. */
    private begin(): void {
        this.cut = this.cuts() ?? (this.filming || this.collecting ? this.cut : null);
    }

    /** A new frame is shown: it joins the sequence, unless the last is still being packed. */
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
            this.say("The image sequence is as long as fits into memory; it ends here.");
            this.toggleImages();
        }
    }
}
