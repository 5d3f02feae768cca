/**
 * Fields of a form that a person changed, as the service takes them. The others are as old as the form: to send
 * them would undo what somebody else made of them meanwhile.
 */
export const changedFields = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof T]),
    ),
  ) as Partial<T>

/** Whether two changes of one record have a field in common. */
export const overlap = (one: object, other: object): boolean =>
  Object.keys(one).some((name) => name in other)
