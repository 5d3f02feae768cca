/** Remedy of a finding in the audit log, for people, at the node that has it. */
export const acknowledgeStep =
  'once the cause is known, run: gatehouse audit acknowledge --reason TEXT'
