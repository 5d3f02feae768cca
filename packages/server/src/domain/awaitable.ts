/** A value that is there at once where nothing waits for it, and later where something does. */
export type Awaitable<T> = T | Promise<T>

/** Goes on with a value: in the same turn where it is there. What `step` raises then is raised here. */
export const andThen = <T, R>(
  value: Awaitable<T>,
  step: (value: T) => Awaitable<R>,
): Awaitable<R> => (value instanceof Promise ? value.then(step) : step(value))
