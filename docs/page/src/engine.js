// The worker, asked by promises. One that traps or does not come back is replaced by another.

/** Longest wait for an answer, in milliseconds. */
const TIMEOUT = 30000;

/** What the libraries refuse, with its place. */
export class Refused extends Error {
  constructor({ message, file, line, column }) {
    super(message);
    Object.assign(this, { file, line, column });
  }
}

export class Engine {
  /** `onrestart` is called when a new worker has replaced the old one. */
  constructor(onrestart) {
    this.onrestart = onrestart;
    const source = document.getElementById("worker").textContent;
    this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    this.next = 0;
    this.begin(document.getElementById("engine").textContent);
  }

  begin(engine) {
    this.waiting = new Map();
    this.worker = new Worker(this.url);
    this.worker.onmessage = ({ data }) => this.answered(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      this.restart(event.message ?? "the engine ended");
    };
    this.ready = this.post("start", { engine, module: this.module }).then(({ module, version }) => {
      this.module = module;
      this.version = version;
    });
  }

  post(question, given = {}) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.restart(`it took longer than ${TIMEOUT / 1000} s`), TIMEOUT);
      this.waiting.set(id, { resolve, reject, timer });
      this.worker.postMessage({ id, question, ...given });
    });
  }

  async ask(question, given) {
    await this.ready;
    return this.post(question, given);
  }

  answered({ id, answer, refusal, trapped }) {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    if (!refusal) waiting.resolve(answer);
    else waiting.reject(new Refused(refusal));
    if (trapped) this.restart(refusal.message);
  }

  /** Ends the worker; pending questions are refused. */
  restart(message) {
    this.worker.terminate();
    for (const { reject, timer } of this.waiting.values()) {
      clearTimeout(timer);
      reject(new Refused({ message }));
    }
    this.begin(this.module ? undefined : document.getElementById("engine").textContent);
    this.onrestart();
  }
}
