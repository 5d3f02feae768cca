import { run, tools } from './run.mjs'

/** Compiles what has changed since the last time. Returns the exit code. */
export const build = async (options = []) => {
  const { code } = await run([...tools.tsc, '-b', ...options])
  if (code !== 0) console.error('The build failed; see the messages above.')
  return code
}
