import {
  type CatalogState,
  type DefaultModel,
  GatehouseError,
  type Model,
  type ModelJob,
  type ModelList,
  type ModelVerification,
  type RemovedModel,
} from '@gatehouse/contract'
import type { CatalogSource, InstalledModels, ModelFiles, StoredModel } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Op } from '../call/op.ts'
import type { Components, Part, PartHealth } from '../call/part.ts'
import { type CatalogDeps, ModelCatalog } from './model-catalog.ts'
import { ModelInstalls } from './model-installs.ts'
import { isUnderWay, payloadOf } from './model-jobs.ts'
import { defaultKey, ModelShelf } from './model-shelf.ts'

/** Dependencies of local models. */
export type ModelParts = {
  readonly files: ModelFiles
  readonly source: CatalogSource
}

export type ModelsDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly node: string
  readonly models: ModelParts
  readonly settings: CatalogDeps['settings']
  /** How that is which runs the models. */
  readonly engineHealth: () => Promise<PartHealth>
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
  /** Calls the listener with each installation as it gets on, about once a second, and as it ends. */
  subscribeInstalls(listener: (job: ModelJob) => void): Disposable
  cancelInstall(op: Op, input: { id: string }): Promise<ModelJob>
  removeModel(op: Op, input: { id: string }): Promise<RemovedModel>
  /** Hashes the installed file again; one that changed is taken out of use. */
  verifyModel(op: Op, input: { id: string }): Promise<ModelVerification>
  setDefaultModel(op: Op, input: { id: string | null }): Promise<DefaultModel>
  refreshCatalog(op: Op): Promise<CatalogState>
}

export type Models = Part<ModelUseCases> & {
  readonly installed: InstalledModels
  health(): Promise<Components['models']>
}

/** Local models: what may be installed, what is, and how it gets there. */
export function bindModels(deps: ModelsDeps): Models {
  const { files } = deps.models
  const catalog = new ModelCatalog({ ...deps, ...deps.models })
  const installs = new ModelInstalls({ ...deps, files })
  const shelf = new ModelShelf({ ...deps, files, catalog, installs })
  const inner = { ...deps, files, catalog, installs, shelf }
  return {
    useCases: {
      async listModels() {
        const { models, chosen } = await shelf.records()
        return { models, default_model: chosen, catalog: await catalog.state() }
      },
      showModel: (_op, { id }) => shelf.show(id),
      inspectModel: (op, { id }) => inspectModel(op, inner, id),
      installModel: (op, { id }) => installModel(op, inner, id),
      showModelJob: (_op, { job_id }) => installs.find(job_id),
      subscribeInstalls: (listener) => installs.subscribe(listener),
      async cancelInstall(op, { id }) {
        await shelf.show(id)
        return installs.cancel(op, id)
      },
      removeModel: (op, { id }) => removeModel(op, inner, id),
      verifyModel: (op, { id }) => verifyModel(op, inner, id),
      setDefaultModel: (op, { id }) => setDefaultModel(op, inner, id),
      refreshCatalog: (op) => catalog.refresh(op),
    },
    installed: shelf,
    health: () => healthOf(inner),
    async start() {
      await installs.start()
      catalog.start()
    },
    async stopped() {
      await Promise.all([installs.stopped(), catalog.stopped()])
    },
  }
}

type Inner = Omit<ModelsDeps, 'models'> & {
  readonly files: ModelFiles
  readonly catalog: ModelCatalog
  readonly installs: ModelInstalls
  readonly shelf: ModelShelf
}

async function healthOf({ catalog, shelf, engineHealth }: Inner): Promise<Components['models']> {
  const { status, reason, checked_at } = catalog.look()
  const facts = { installed: (await shelf.list()).length, catalog: status }
  const [broken] = await shelf.broken()
  if (broken !== undefined)
    return { status: 'degraded', reason: `the model ${broken} cannot be used`, ...facts }
  if (status === 'refused' || (status === 'unavailable' && checked_at !== null))
    return { status: 'degraded', reason: `the catalog is ${status}: ${reason}`, ...facts }
  return { ...(await engineHealth()), ...facts }
}

async function inspectModel(op: Op, { shelf, files }: Inner, id: string): Promise<Model> {
  const { entry } = await shelf.offeredOrThrow(id)
  shelf.inspected(entry.sha256, await files.inspect(entry, op.signal))
  return shelf.show(id)
}

async function installModel(op: Op, { shelf, installs }: Inner, id: string): Promise<ModelJob> {
  const offered = await shelf.offeredOrThrow(id)
  const [stored, last] = [await shelf.findStored(id), await installs.last(id)]
  const isHere = stored?.sha256 === offered.entry.sha256 && (await shelf.problemOf(stored)) === null
  if (isHere && last && payloadOf(last).entry.sha256 === stored.sha256) return installs.record(last)
  return installs.request(op, offered)
}

async function assertIdle({ installs }: Inner, id: string): Promise<void> {
  const job = await installs.last(id)
  if (job && isUnderWay(job)) throw new GatehouseError('ModelBusy', { id })
}

async function removeModel(op: Op, inner: Inner, id: string): Promise<RemovedModel> {
  const { shelf, installs, files, auditLog, node } = inner
  await assertIdle(inner, id)
  const stored = await shelf.findStored(id)
  const sha256 = stored?.sha256 ?? (await shelf.offeredOrThrow(id)).entry.sha256
  // The file first: a crash between the two leaves a model without a file, which is not offered.
  const freed_bytes = (await installs.isShared(sha256, id)) ? 0 : await files.remove(sha256)
  if (!stored && freed_bytes === 0)
    throw new GatehouseError('ModelNotInstalled', { id, detail: 'there is nothing of it here' })
  await auditLog.transaction(async (tx) => {
    await tx.models.remove(node, id)
    if ((await tx.meta.get(defaultKey)) === id) await tx.meta.set(defaultKey, '')
    tx.append(actDraft(op, 'model.removed', { arguments: { id, sha256, freed_bytes } }))
  })
  return { id, removed: true, freed_bytes }
}

const faultIn = (stored: StoredModel, found: Awaited<ReturnType<ModelFiles['hash']>>) => {
  if (found === null) return 'its file is missing'
  return found.sha256 === stored.sha256
    ? null
    : 'its bytes are not those that were installed; it was taken out of use'
}

/** Row to change, of the installation that was hashed: hashing takes minutes, in which others may remove or update it. */
const stillInstalled = (hashed: StoredModel, now: StoredModel | null): StoredModel => {
  const { id } = hashed
  if (now === null)
    throw new GatehouseError('ModelNotInstalled', { id, detail: 'it was removed meanwhile' })
  const isSame = now.sha256 === hashed.sha256 && now.installed_ms === hashed.installed_ms
  if (!isSame) throw new GatehouseError('ModelBusy', { id })
  return now
}

async function verifyModel(op: Op, inner: Inner, id: string): Promise<ModelVerification> {
  const { shelf, files, clock, storage, auditLog, node } = inner
  const stored = await shelf.storedOrThrow(id)
  await assertIdle(inner, id)
  const found = await files.hash(stored.sha256, op.signal)
  const verified_ms = clock.wall()
  const detail = faultIn(stored, found)
  if (found !== null && detail !== null) {
    // Another installation may have put its own file there meanwhile.
    stillInstalled(stored, await storage.models.find(node, id))
    await files.reject(stored.sha256)
  }
  await auditLog.transaction(async (tx) => {
    const current = stillInstalled(stored, await tx.models.find(node, id))
    const next = detail === null ? { verified_ms, problem: null } : { problem: detail }
    await tx.models.put({ ...current, ...next })
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
    verified_at: new Date(verified_ms).toISOString(),
    detail,
  }
}

async function setDefaultModel(
  op: Op,
  { shelf, auditLog }: Inner,
  id: string | null,
): Promise<DefaultModel> {
  if (id !== null) await shelf.find(id)
  await auditLog.transaction(async (tx) => {
    await tx.meta.set(defaultKey, id ?? '')
    tx.append(actDraft(op, 'model.default_set', { arguments: { id } }))
  })
  return { default_model: id }
}
