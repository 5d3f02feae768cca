/** Characters that a reason may have; a call that needs more to be understood needs a person to talk to. */
export const agentReasonMax = 500

/** Fault of a reason that an agent gave for its call, or null. */
export const agentReasonFault = (reason: unknown): string | null => {
  if (typeof reason !== 'string') return 'must be a string'
  return reason.length > agentReasonMax
    ? `may have at most ${agentReasonMax} characters, and has ${reason.length}`
    : null
}
