import { setFlagsFromString } from 'node:v8'

/**
 * V8's space for young objects stays as small as it is, until the function that is returned is called. Code
 * lives on once it is loaded, so loading much of it makes that space grow to its full size, which a service to
 * which nothing happens then keeps. Afterwards it grows with the calls.
 * V8 reads this setting each time it would grow; one that no longer knew it would say so and go on.
 */
export const holdYoungSpace = (): (() => void) => {
  setFlagsFromString('--semi-space-growth-factor=1')
  // V8's own value.
  return () => setFlagsFromString('--semi-space-growth-factor=2')
}
