import {
  type CatalogState,
  type DefaultModel,
  didYouMean,
  GatehouseError,
  type Model,
  type ModelEntry,
  type ModelHeader,
  type ModelJob,
  type ModelList,
  type ModelVerification,
  type RemovedModel,
} from '@gatehouse/contract'
import { builtInDefault } from '../domain/models/built-in.ts'
import { gradeFit } from '../domain/models/fit.ts'
import type { OfferedModel } from '../domain/models/merge-models.ts'
import type {
  CatalogSource,
  InstalledModel,
  InstalledModels,
  ModelFiles,
  StoredModel,
} from '../ports/models.ts'
import { actDraft } from './audit-draft.ts'
import type { Basics } from './deps.ts'
import type { PartHealth } from './doors.ts'
import { ModelCatalog } from './model-catalog.ts'
import { ModelInstalls } from './model-installs.ts'
import { isUnderWay, payloadOf } from './model-jobs.ts'
import type { Op } from './op.ts'

/** What local models stand on. */
export type ModelParts = {
  readonly files: ModelFiles
  readonly source: CatalogSource
  readonly refreshMs: number
}

export type ModelsDeps = Pick<Basics, 'storage' | 'journal' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly models: ModelParts
  readonly signal: AbortSignal
}

/** For people; each is recorded. */
export interface ModelUseCases {
  listModels(op: Op): Promise<ModelList>
  showModel(op: Op, input: { id: string }): Promise<Model>
  /** Reads the beginning of the file from its source: what it is and whether it fits, before it is fetched. */
  inspectModel(op: Op, input: { id: string }): Promise<Model>
  installModel(op: Op, input: { id: string }): Promise<ModelJob>
  showModelJob(op: Op, input: { job_id: string }): Promise<ModelJob>
  cancelInstall(op: Op, input: { id: string }): Promise<ModelJob>
  removeModel(op: Op, input: { id: string }): Promise<RemovedModel>
  /** Hashes the installed file again; one that changed is taken out of use. */
  verifyModel(op: Op, input: { id: string }): Promise<ModelVerification>
  setDefaultModel(op: Op, input: { id: string | null }): Promise<DefaultModel>
  refreshCatalog(op: Op): Promise<CatalogState>
}

export type Models = {
  readonly useCases: ModelUseCases
  readonly installed: InstalledModels
  health(): Promise<PartHealth & { readonly installed: number; readonly catalog: string }>
  start(): Promise<void>
  stopped(): Promise<void>
}

const defaultKey = 'models.default'
const iso = (ms: number): string => new Date(ms).toISOString()
const entryOf = (stored: StoredModel): ModelEntry => JSON.parse(stored.entry_json) as ModelEntry
const headerOf = (stored: StoredModel): ModelHeader => JSON.parse(stored.header_json) as ModelHeader

/** Local models: what may be installed, what is, and how it gets there. */
export function bindModels(deps: ModelsDeps): Models {
  const { storage, journal, clock, node } = deps
  const { files } = deps.models
  const catalog = new ModelCatalog({ ...deps, ...deps.models })
  const installs = new ModelInstalls({ ...deps, files })
  /** Headers that were read ahead, by hash. */
  const inspected = new Map<string, ModelHeader>()

  /** Why an installed one is not to be loaded, or null. */
  const problemOf = async (stored: StoredModel): Promise<string | null> =>
    stored.problem ?? ((await files.holds(stored)) ? null : 'its file is missing or incomplete')

  const recordOf = async (
    offered: OfferedModel | null,
    stored: StoredModel | null,
    chosen: string | null,
    memory: number,
  ): Promise<Model> => {
    const job = await installs.last(stored?.id ?? offered?.entry.id ?? '')
    const problem = stored ? await problemOf(stored) : null
    // What is here is what counts, whatever the catalog has come to say of it.
    const isHere = stored !== null && problem === null
    const entry = isHere || !offered ? entryOf(stored as StoredModel) : offered.entry
    const header =
      stored?.sha256 === entry.sha256 ? headerOf(stored) : (inspected.get(entry.sha256) ?? null)
    return {
      ...entry,
      source: isHere || !offered ? (stored as StoredModel).source : offered.source,
      installed: isHere,
      default: entry.id === chosen,
      listed: offered !== null,
      update_available: isHere && offered !== null && offered.entry.sha256 !== stored.sha256,
      installed_at: isHere ? iso(stored.installed_ms) : null,
      verified_at: isHere ? iso(stored.verified_ms) : null,
      problem,
      header,
      fit: gradeFit(entry.size_bytes, header, memory),
      partial_bytes: isHere ? 0 : await files.partialBytes(entry.sha256),
      job: job ? await installs.record(job) : null,
    }
  }

  const byId = async () => {
    const offered = new Map((await catalog.offered()).map((one) => [one.entry.id, one]))
    const stored = new Map((await storage.models.list(node)).map((one) => [one.id, one]))
    return { offered, stored }
  }

  const notFound = (id: string, ids: Iterable<string>): GatehouseError =>
    new GatehouseError(
      'ModelNotFound',
      { id: `${id.slice(0, 200)}` },
      {
        recovery: [
          {
            action: 'gatehouse models list',
            description: `See which models there are.${didYouMean(id, [...ids])}`,
          },
        ],
      },
    )

  const show = async (id: string): Promise<Model> => {
    const { offered, stored } = await byId()
    const [one, here] = [offered.get(id) ?? null, stored.get(id) ?? null]
    if (!one && !here) throw notFound(id, [...offered.keys(), ...stored.keys()])
    return recordOf(one, here, await chosenDefault(), await files.availableMemory())
  }

  /** The operator's choice; else the built-in one where it is installed. A catalog has no say. */
  const chosenDefault = async (): Promise<string | null> => {
    const chosen = await storage.meta.get(defaultKey)
    if (chosen !== null) return chosen === '' ? null : chosen
    const stored = builtInDefault === null ? null : await storage.models.find(node, builtInDefault)
    return stored && (await problemOf(stored)) === null ? stored.id : null
  }

  const storedOrThrow = async (id: string): Promise<StoredModel> => {
    const stored = await storage.models.find(node, id)
    if (stored) return stored
    const { offered } = await byId()
    if (!offered.has(id)) throw notFound(id, offered.keys())
    throw new GatehouseError('ModelNotInstalled', { id, detail: 'nothing of it was installed' })
  }

  const assertIdle = async (id: string): Promise<void> => {
    const job = await installs.last(id)
    if (job && isUnderWay(job)) throw new GatehouseError('ModelBusy', { id })
  }

  const installedOf = (stored: StoredModel): InstalledModel => ({
    id: stored.id,
    label: entryOf(stored).label ?? null,
    file: files.pathOf(stored.sha256),
    sha256: stored.sha256,
    size_bytes: stored.size_bytes,
    header: headerOf(stored),
  })

  /** @SECURITY Only what was verified and still lies there in its size is ever handed on. */
  const listInstalled = async (): Promise<readonly StoredModel[]> => {
    const all = await storage.models.list(node)
    const problems = await Promise.all(all.map(problemOf))
    return all.filter((_, i) => problems[i] === null)
  }

  const installed: InstalledModels = {
    list: async () => (await listInstalled()).map(installedOf),
    async find(id) {
      const stored = await storedOrThrow(id)
      const detail = await problemOf(stored)
      if (detail !== null) throw new GatehouseError('ModelNotInstalled', { id, detail })
      return installedOf(stored)
    },
    async default() {
      const id = await chosenDefault()
      const stored = id === null ? null : await storage.models.find(node, id)
      return stored && (await problemOf(stored)) === null ? installedOf(stored) : null
    },
  }

  const useCases: ModelUseCases = {
    async listModels() {
      const { offered, stored } = await byId()
      const [chosen, memory] = [await chosenDefault(), await files.availableMemory()]
      const models: Model[] = []
      for (const [id, one] of offered)
        models.push(await recordOf(one, stored.get(id) ?? null, chosen, memory))
      // Installed ones stay, also when a catalog has dropped them.
      for (const [id, here] of stored)
        if (!offered.has(id)) models.push(await recordOf(null, here, chosen, memory))
      return { models, default_model: chosen, catalog: await catalog.state() }
    },

    showModel: (_op, { id }) => show(id),

    async inspectModel(op, { id }) {
      const { entry } = await offeredOrThrow(id)
      inspected.set(entry.sha256, await files.inspect(entry, op.signal))
      return show(id)
    },

    async installModel(op, { id }) {
      const offered = await offeredOrThrow(id)
      const [stored, last] = [await storage.models.find(node, id), await installs.last(id)]
      const isHere = stored?.sha256 === offered.entry.sha256 && (await problemOf(stored)) === null
      if (isHere && last && payloadOf(last).entry.sha256 === stored.sha256)
        return installs.record(last)
      return installs.request(op, offered)
    },

    showModelJob: (_op, { job_id }) => installs.find(job_id),

    async cancelInstall(op, { id }) {
      await show(id)
      return installs.cancel(op, id)
    },

    async removeModel(op, { id }) {
      await assertIdle(id)
      const stored = await storage.models.find(node, id)
      const sha256 = stored?.sha256 ?? (await offeredOrThrow(id)).entry.sha256
      // The file first: a crash between the two leaves a model without a file, which is not offered.
      const freed_bytes = (await installs.isShared(sha256, id)) ? 0 : await files.remove(sha256)
      if (!stored && freed_bytes === 0)
        throw new GatehouseError('ModelNotInstalled', { id, detail: 'there is nothing of it here' })
      await journal.transaction(async (tx) => {
        await tx.models.remove(node, id)
        if ((await tx.meta.get(defaultKey)) === id) await tx.meta.set(defaultKey, '')
        tx.append(actDraft(op, 'model.removed', { arguments: { id, sha256, freed_bytes } }))
      })
      return { id, removed: true, freed_bytes }
    },

    async verifyModel(op, { id }) {
      const stored = await storedOrThrow(id)
      await assertIdle(id)
      const found = await files.hash(stored.sha256, op.signal)
      const nowMs = clock.wall()
      const detail =
        found === null
          ? 'its file is missing'
          : found.sha256 === stored.sha256
            ? null
            : 'its bytes are not those that were installed; it was taken out of use'
      if (found !== null && detail !== null) await files.reject(stored.sha256)
      await journal.transaction(async (tx) => {
        const next = detail === null ? { verified_ms: nowMs, problem: null } : { problem: detail }
        await tx.models.put({ ...stored, ...next })
        const facts = { id, sha256: stored.sha256, found: found?.sha256 ?? null }
        const result = detail === null ? 'success' : 'error'
        tx.append(actDraft(op, 'model.verified', { arguments: facts, result }))
      })
      return {
        id,
        verified: detail === null,
        expected_sha256: stored.sha256,
        found_sha256: found?.sha256 ?? null,
        size_bytes: found?.size_bytes ?? 0,
        verified_at: iso(nowMs),
        detail,
      }
    },

    async setDefaultModel(op, { id }) {
      if (id !== null) await installed.find(id)
      await journal.transaction(async (tx) => {
        await tx.meta.set(defaultKey, id ?? '')
        tx.append(actDraft(op, 'model.default_set', { arguments: { id } }))
      })
      return { default_model: id }
    },

    refreshCatalog: (op) => catalog.refresh(op),
  }

  const offeredOrThrow = async (id: string): Promise<OfferedModel> => {
    const { offered } = await byId()
    const one = offered.get(id)
    if (one) return one
    throw notFound(id, offered.keys())
  }

  return {
    useCases,
    installed,
    async health() {
      const { status, reason } = catalog.look()
      const usable = await listInstalled()
      const facts = { installed: usable.length, catalog: status }
      const broken = (await storage.models.list(node)).find(
        ({ id }) => !usable.some((model) => model.id === id),
      )?.id
      if (broken !== undefined)
        return { status: 'degraded', reason: `the model ${broken} cannot be used`, ...facts }
      if (status === 'refused' || (status === 'unavailable' && reason !== null))
        return { status: 'degraded', reason: `the catalog is ${status}: ${reason}`, ...facts }
      return { status: 'healthy', ...facts }
    },
    async start() {
      await installs.start()
      catalog.start()
    },
    async stopped() {
      await Promise.all([installs.stopped(), catalog.stopped()])
    },
  }
}

const nothing = (): never => {
  throw new GatehouseError('NotFound', { path: 'models' })
}

/** In place of the parts where no files of models are kept. */
export const noModels: ModelParts = {
  files: {
    pathOf: nothing,
    holds: async () => false,
    partialBytes: async () => 0,
    freeBytes: async () => 0,
    availableMemory: async () => 0,
    fetch: async () => nothing(),
    inspect: async () => nothing(),
    hash: async () => null,
    header: async () => nothing(),
    reject: async () => undefined,
    remove: async () => 0,
  },
  source: {
    url: null,
    kept: async () => null,
    keep: async () => undefined,
    fetch: async () => null,
  },
  refreshMs: 86_400_000,
}
