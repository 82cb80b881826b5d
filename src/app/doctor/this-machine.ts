/** Hosts that always mean this machine, as in an address or by themselves. */
export const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;
