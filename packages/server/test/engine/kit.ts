import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { EngineParts } from '@gatehouse/server/app/inference/inference'
import { engineFolder } from '@gatehouse/testkit/programs'
import { createEngineHost } from '../../src/inference/engine/create-engine-host.ts'
import { NpmEngineInstaller } from '../../src/inference/engine/npm-engine-installer.ts'
import type { Sandbox } from '../../src/ports/sandbox.ts'
import { type ModelKit, openModelKit } from '../models/kit.ts'
import { entryOf, ModelSource } from '../models/model-source.ts'

export const idleMs = 60_000
const shipped = (name: string) => fileURLToPath(new URL(`../../engine/${name}`, import.meta.url))

export const testInstaller = (): NpmEngineInstaller =>
  new NpmEngineInstaller({
    folder: engineFolder,
    lockFile: shipped('engine-lock.json'),
    environment: {},
  })

/** The real engine with one thread: more only wait for each other on a machine that has other work. */
export const testEngineHost = (
  sandbox: Sandbox,
  folder: string,
  change: { readonly worker?: string; readonly loadMs?: number } = {},
) =>
  createEngineHost({
    sandbox,
    installer: testInstaller(),
    folder: join(folder, 'engine-runs'),
    threads: 1,
    worker: shipped('worker.mjs'),
    ...change,
  })

export type EngineKit = AsyncDisposable & {
  readonly models: ModelKit
  readonly kit: ModelKit['kit']
  readonly source: ModelSource
}

/** A service with these models installed, the way anybody installs them; the engine is the real one. */
export async function openEngineKit(
  files: Readonly<Record<string, Uint8Array>>,
  options: {
    readonly loadMs?: number
    readonly change?: (parts: EngineParts) => EngineParts
  } = {},
): Promise<EngineKit> {
  const source = await ModelSource.open()
  const entries = Object.entries(files).map(([id, bytes]) =>
    entryOf(id, source.file(`/${id}.gguf`, bytes), bytes),
  )
  source.json('/models.json', { schema_version: 1, models: entries })
  const models = await openModelKit(source, {
    kit: {
      settings: { 'engine.idle': idleMs },
      sandbox: 'real',
      engine(sandbox, folder) {
        const { loadMs } = options
        const host = testEngineHost(sandbox, folder, loadMs === undefined ? {} : { loadMs })
        const parts = { installer: testInstaller(), host }
        return options.change?.(parts) ?? parts
      },
    },
  })
  const close = async () => {
    await models[Symbol.asyncDispose]()
    await source[Symbol.asyncDispose]()
  }
  try {
    for (const id of Object.keys(files)) {
      const job = await models.installed(id)
      if (job.status !== 'done') throw new Error(JSON.stringify(job.error))
    }
  } catch (error) {
    await close()
    throw error
  }
  return { models, kit: models.kit, source, [Symbol.asyncDispose]: close }
}
