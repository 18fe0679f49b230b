// Sounds, made here: a short knock for a move, two for stones that are taken, a higher one for each of the last seconds.
import {remember} from "./elements.js";

const STORED = "sound";
const SECONDS = 0.09, PITCH = 1100, TICK_PITCH = 2600;

export class Sound {
  // switched: the checkbox.
  constructor(switched) {
    this.switched = switched;
    this.shown = null;
    remember(switched, STORED, async () => {
      await this.wake();
      this.knock();
    });
    for (const gesture of ["pointerdown", "pointerup", "keydown"]) {
      document.addEventListener(gesture, () => this.wake(), {capture: true});  // the board keeps some keys to itself
    }
  }

  // Browsers let only a gesture of the user begin sound, or resume what they have suspended; until then it is silent.
  async wake() {
    if (!this.switched.checked) return;
    this.audio ||= new AudioContext();
    if (this.audio.state !== "running") await this.audio.resume();
  }

  // Is heard if the state shows another move than the one before.
  follow({node, lastMove, captures}) {
    const before = this.shown, taken = captures.black + captures.white;
    this.shown = {node, taken};
    if (!before || before.node === node || !lastMove || lastMove.vertex === "pass") return;
    this.knock();
    if (taken > before.taken) this.knock(1.5 * SECONDS);
  }

  tick() { this.knock(0, TICK_PITCH); }

  knock(delay = 0, pitch = PITCH) {
    // What is begun while the sound is suspended would all be heard at once when it is resumed.
    if (!this.switched.checked || this.audio?.state !== "running") return;
    const start = this.audio.currentTime + delay, tone = this.audio.createOscillator(), loudness = this.audio.createGain();
    tone.type = "triangle";
    tone.frequency.setValueAtTime(pitch, start);
    tone.frequency.exponentialRampToValueAtTime(pitch / 5, start + SECONDS);
    loudness.gain.setValueAtTime(0.4, start);
    loudness.gain.exponentialRampToValueAtTime(0.001, start + SECONDS);
    tone.connect(loudness).connect(this.audio.destination);
    tone.start(start);
    tone.stop(start + SECONDS);
    document.documentElement.dataset.knocks = Number(document.documentElement.dataset.knocks || 0) + 1;
  }
}
