import { build } from './build.mjs'

/** Tests run what was compiled. A build that fails says so, and its types are no reason to run none. */
export const setup = async () => {
  await build()
}
