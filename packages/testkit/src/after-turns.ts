/** Works so many turns of the microtask queue after the promise, for a test of what comes at an exact moment. */
export async function afterTurns(
  promise: Promise<unknown>,
  turns: number,
  work: () => void,
): Promise<void> {
  await promise
  for (let turn = 0; turn < turns; turn += 1) await Promise.resolve()
  work()
}
