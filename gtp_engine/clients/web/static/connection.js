// The connection to the program: objects both ways. It is opened again when it is lost.
const FIRST_WAIT = 300, LONGEST_WAIT = 5000;  // milliseconds

export class Connection {
  // onMessage: called with each object; onChange: with whether there is a connection.
  constructor({onMessage, onChange}) {
    this.onMessage = onMessage;
    this.onChange = onChange;
    this.wait = FIRST_WAIT;
    this.open();
    window.addEventListener("online", () => this.again());
    document.addEventListener("visibilitychange", () => document.hidden || this.again());
  }

  open() {
    clearTimeout(this.timer);
    const socket = this.socket = new WebSocket(`ws://${location.host}/socket`);
    socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.onChange(true);
    });
    socket.addEventListener("message", (event) => this.onMessage(JSON.parse(event.data)));
    socket.addEventListener("close", () => {
      if (socket !== this.socket) return;
      this.onChange(false);
      this.timer = setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    });
  }

  // Tries at once what would be tried later.
  again() {
    if (this.socket.readyState === WebSocket.CLOSED) this.open();
  }

  // Returns whether the message could be sent.
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
