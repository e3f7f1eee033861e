/* The way between a notebook's page and its kernel, by messages of a comm that nobody opens.

   Where the kernel opens a comm, a front end that lacks its target closes it for everyone; where the page does, a
   kernel without the target logs an error; and of several connections to a kernel, one alone has comms. So both sides
   know an id: the page looks whether the kernel lists it, and only then asks. */

const COMM = 'jupyter_ctx.chip'; // both the comm's id and its target
const GONE = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** Return the class of links; what a kernel said is kept for as long as the browser's tab lives. */
export function linkTo({ KernelMessage }) {
  return class Link {
    /** `heard` is called with each message and its id, and with nothing where only the kernel's status has changed. */
    constructor(context, heard) {
      Object.assign(this, { context, heard, figures: null, received: 0, canLoad: false });
      for (const [signal, slot] of this.signals) signal.connect(slot, this);
      void this.ask();
    }

    dispose() {
      for (const [signal, slot] of this.signals) signal.disconnect(slot, this); // a second view has the same context
    }

    get signals() {
      const { iopubMessage, kernelChanged, connectionStatusChanged, statusChanged } = this.context;
      return [
        [iopubMessage, this.receive],
        [kernelChanged, this.ask],
        [connectionStatusChanged, this.ask],
        [statusChanged, this.look]
      ];
    }

    get kernel() {
      return this.context.session?.kernel ?? null;
    }

    get isBusy() {
      return this.kernel?.status === 'busy';
    }

    get isConnected() {
      return this.kernel?.connectionStatus === 'connected';
    }

    receive(_, { header, content }) {
      if (header.msg_type !== 'comm_msg' || content.comm_id !== COMM) return;
      this.received += 1;
      const { data } = content;
      if (data.loaded) {
        this.canLoad = false;
        this.send({ ask: true });
      }
      if ('shape' in data) this.keep(data);
      this.heard(data, header.msg_id);
    }

    look(_, status) {
      if (GONE.includes(status)) this.keep(null);
      this.heard();
    }

    keep(figures) {
      this.figures = figures?.shape ? figures : null;
      if (this.kernel) sessionStorage.setItem(COMM + this.kernel.id, JSON.stringify(this.figures));
    }

    /** Ask for the figures, if the kernel has loaded the extension. */
    async ask() {
      const { kernel, received } = this;
      this.canLoad = false;
      // a kernel that runs a cell answers when that has ended: until then, what it said before the page was loaded anew
      this.figures = kernel && JSON.parse(sessionStorage.getItem(COMM + kernel.id));
      this.heard();
      if (!kernel || !this.isConnected) return;
      try {
        const { content } = await kernel.requestCommInfo({ target_name: COMM });
        if (kernel !== this.kernel) return;
        if (content.comms?.[COMM]) this.send({ ask: true });
        else if (received === this.received) {
          this.keep(null); // else it has been loaded since
          this.canLoad = (await kernel.spec)?.language === 'python';
        }
        this.heard();
      } catch {} // the connection was lost: it is asked anew when there is another
    }

    send(data) {
      const { kernel } = this;
      if (!kernel) return;
      const { username, clientId: session } = kernel;
      const content = { comm_id: COMM, data };
      const message = KernelMessage.createMessage({ msgType: 'comm_msg', channel: 'shell', username, session, content });
      kernel.sendShellMessage(message, false, true);
    }
  };
}
