/** Takes every step, though one before it fails, and raises the first error when all are done. */
export const eachByItself = async <T>(
  items: Iterable<T>,
  step: (item: T) => Promise<void>,
): Promise<void> => {
  const errors: unknown[] = []
  for (const item of items)
    try {
      await step(item)
    } catch (error) {
      errors.push(error)
    }
  if (errors.length > 0) throw errors[0]
}
