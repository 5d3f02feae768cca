import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** Where the data may be, in the order of search; only the first where somebody named it. */
export type DataPlaces = {
  readonly named: boolean
  readonly dirs: readonly [string, ...string[]]
}

/** The data directory of a packaged service. */
const serviceDir = '/var/lib/gatehouse'

/** Where the data is when nobody says otherwise. */
export const usualDataDir = (env: Env): string =>
  join(env.XDG_DATA_HOME || join(env.HOME ?? homedir(), '.local', 'share'), 'gatehouse')

/**
 * @SECURITY Never the working folder: an agent may write there, and a token goes to the server that is found;
 * data-places.test.ts fails without it.
 */
export function dataPlaces(flag: string | undefined, env: Env): DataPlaces {
  const given = flag ?? env.GATEHOUSE_DATA_DIR
  if (given) return { named: true, dirs: [resolve(given)] }
  const usual = usualDataDir(env)
  // A service started elsewhere than in a login session does not have XDG_DATA_HOME.
  const others = [usualDataDir({ ...env, XDG_DATA_HOME: undefined }), serviceDir]
  return { named: false, dirs: [usual, ...others.filter((dir) => dir !== usual)] }
}
