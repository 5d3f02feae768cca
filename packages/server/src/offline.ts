import { compose } from './compose.ts'
import { loadSettings, usualDataDir } from './config/load.ts'
import { createLog } from './telemetry/log.ts'
import { LogOutput } from './telemetry/log-output.ts'
import { createRestApp } from './transport/rest/create-rest-app.ts'
import { Scrubber } from './vault/scrub/scrubber.ts'

/**
 * The REST API without a server: the same routes on the store itself, for a command given while none
 * runs. Approved calls are stored and run when a server next starts. Raises `AlreadyRunning`.
 */
export async function openOffline(input: {
  readonly dataDir: string
  readonly configFile?: string
  /** Data for this command alone: no setting of a service applies, such as its database. */
  readonly temporary?: boolean
}): Promise<
  { fetch(request: Request): Promise<Response>; readonly token: string } & AsyncDisposable
> {
  const environment = input.temporary
    ? Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('GATEHOUSE_')),
      )
    : process.env
  const flags = {
    // A directory that needs no flag has another origin.
    ...(usualDataDir(environment) === input.dataDir ? {} : { 'data-dir': input.dataDir }),
    ...(input.configFile ? { config: input.configFile } : {}),
  }
  const settings = loadSettings(flags, environment)
  const scrubber = new Scrubber()
  const output = new LogOutput(process.stderr.fd)
  const log = createLog('warn', output, (line) => scrubber.scrub(line))
  const composition = await compose(settings, log, { runsApproved: false, scrubber, output })
  const token = await composition.prepareCliToken()
  const rest = createRestApp({ ...composition, version: composition.app.version })
  return {
    token,
    fetch: (request) => rest.fetch(request),
    [Symbol.asyncDispose]: () => composition[Symbol.asyncDispose](),
  }
}
