import { setTimeout as pause } from 'node:timers/promises'
import type { EngineSetup } from '@gatehouse/contract'
import { asNextStep } from '../as-next-step.ts'
import { counted } from '../counted.ts'
import type { Context } from '../define.ts'
import { defineCommand } from '../define.ts'
import { escapeLines } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

const lookEveryMs = 500

const progressLine = ({ packages_done, packages_total }: EngineSetup): string =>
  packages_total === 0 ? 'preparing' : `${packages_done} of ${counted(packages_total, 'package')}`

/** On a terminal one line that is written over; elsewhere a line whenever a quarter more is here. */
async function follow({ api, io, json, quiet }: Context, first: EngineSetup): Promise<EngineSetup> {
  const { stderr, signal } = io
  const rewrites = stderr.isTTY && !json
  let [setup, told] = [first, -1]
  while (setup.status === 'running' && !signal.aborted) {
    const line = progressLine(setup)
    const step = Math.floor((setup.packages_done / Math.max(1, setup.packages_total)) * 4)
    if (!quiet && rewrites) await stderr.write(`\r\x1b[K${line}`)
    else if (!quiet && step > told) await stderr.write(`${line}\n`)
    told = step
    await pause(lookEveryMs, undefined, { signal }).catch(() => undefined)
    setup = (await api.showEngine()).setup
  }
  if (!quiet && rewrites) await stderr.write('\r\x1b[K')
  return setup
}

export const modelsSetup = defineCommand({
  name: 'models setup',
  summary: 'Install the engine that runs local models, or show what is missing',
  examples: ['gatehouse models setup', 'gatehouse models setup --json'],
  async run(context) {
    const setup = await follow(context, await context.api.setUpEngine())
    const { package: installed } = await context.api.showEngine()
    return { ...setup, version: installed.version, installed: installed.installed }
  },
  text: ({ version, installed, error, status, ...setup }, { next }) => {
    if (error)
      return escapeLines(
        [
          error.message,
          ...error.recovery.map(({ action, description }) =>
            asNextStep(`  ${action}: ${description}`, next),
          ),
        ].join('\n'),
      )
    if (status === 'running')
      return `The installation goes on as long as the server runs: ${progressLine({ ...setup, status, error })}.`
    return installed
      ? `The engine is installed: node-llama-cpp ${version}.\nNext: ${next('models install ID')}, then ${next('models try ID "Hello"')}`
      : 'The engine is not installed.'
  },
  exitCode: ({ status }) => (status === 'failed' ? exitCodes.failed : exitCodes.done),
})
