/** No result is larger. */
export const resultBytesMax = 10 * 1024 * 1024
