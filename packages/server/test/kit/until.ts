/** Resolves once `holds` does; what it waits for is an event of the loop, never a time. */
export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise<void>((resolve) => setImmediate(resolve))
}
