import {
  didYouMean,
  GatehouseError,
  type Model,
  type ModelEntry,
  type ModelHeader,
} from '@gatehouse/contract'
import { builtInDefault } from '../../domain/models/built-in.ts'
import { gradeFit } from '../../domain/models/fit.ts'
import type { OfferedModel } from '../../domain/models/merge-models.ts'
import { parseStored } from '../../domain/parse-stored.ts'
import type {
  InstalledModel,
  InstalledModels,
  ModelFiles,
  StoredModel,
} from '../../ports/models.ts'
import type { Basics } from '../call/basics.ts'
import type { ModelCatalog } from './model-catalog.ts'
import type { ModelInstalls } from './model-installs.ts'

type Deps = Pick<Basics, 'storage'> & {
  readonly node: string
  readonly files: ModelFiles
  readonly catalog: ModelCatalog
  readonly installs: ModelInstalls
}

export const defaultKey = 'models.default'

const iso = (ms: number): string => new Date(ms).toISOString()
const entryOf = (stored: StoredModel): ModelEntry =>
  parseStored(stored.entry_json, 'models.entry_json')
const headerOf = (stored: StoredModel): ModelHeader =>
  parseStored(stored.header_json, 'models.header_json')

const notFound = (id: string, ids: readonly string[]): GatehouseError =>
  new GatehouseError(
    'ModelNotFound',
    { id: id.slice(0, 200) },
    {
      recovery: [
        {
          action: 'gatehouse models list',
          description: `See which models there are.${didYouMean(id, ids)}`,
        },
      ],
    },
  )

/** Of what it is known by its hash alone: what is offered may be another file tomorrow. */
type Pair = { readonly offered: OfferedModel | null; readonly stored: StoredModel | null }
type Surroundings = { readonly chosen: string | null; readonly memory: number }

/** Models that are offered, models that are here, and those that may be used. */
export class ModelShelf implements InstalledModels {
  readonly #deps: Deps
  /** Headers that were read ahead, by hash. */
  readonly #inspected = new Map<string, ModelHeader>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async records(): Promise<{ readonly models: Model[]; readonly chosen: string | null }> {
    const { catalog } = this.#deps
    const offered = await catalog.offered()
    const stored = new Map((await this.#all()).map((one) => [one.id, one]))
    const around = await this.#surroundings()
    const models: Model[] = []
    for (const one of offered)
      models.push(
        await this.#record({ offered: one, stored: stored.get(one.entry.id) ?? null }, around),
      )
    // Installed ones stay, also when a catalog has dropped them.
    const ids = new Set(offered.map(({ entry }) => entry.id))
    for (const one of stored.values())
      if (!ids.has(one.id)) models.push(await this.#record({ offered: null, stored: one }, around))
    return { models, chosen: around.chosen }
  }

  /** Raises `ModelNotFound`. */
  async show(id: string): Promise<Model> {
    const offered = await this.findOffered(id)
    const stored = await this.findStored(id)
    if (!offered && !stored) throw await this.#unknown(id)
    return this.#record({ offered, stored }, await this.#surroundings())
  }

  inspected(sha256: string, header: ModelHeader): void {
    this.#inspected.set(sha256, header)
  }

  async findOffered(id: string): Promise<OfferedModel | null> {
    return (await this.#deps.catalog.offered()).find(({ entry }) => entry.id === id) ?? null
  }

  async offeredOrThrow(id: string): Promise<OfferedModel> {
    const offered = await this.findOffered(id)
    if (offered) return offered
    throw await this.#unknown(id)
  }

  findStored(id: string): Promise<StoredModel | null> {
    return this.#deps.storage.models.find(this.#deps.node, id)
  }

  /** Raises `ModelNotFound`, or `ModelNotInstalled` for one that could be. */
  async storedOrThrow(id: string): Promise<StoredModel> {
    const stored = await this.findStored(id)
    if (stored) return stored
    await this.offeredOrThrow(id)
    throw new GatehouseError('ModelNotInstalled', { id, detail: 'nothing of it was installed' })
  }

  /**
   * Why an installed one is not to be loaded, or null.
   * @SECURITY Only what was verified and lies there in its size is handed on; install.test.ts.
   */
  async problemOf(stored: StoredModel): Promise<string | null> {
    if (stored.problem !== null) return stored.problem
    return (await this.#deps.files.holds(stored)) ? null : 'its file is missing or incomplete'
  }

  /** Ids of installed models that cannot be used. */
  async broken(): Promise<readonly string[]> {
    const all = await this.#all()
    const problems = await Promise.all(all.map((stored) => this.problemOf(stored)))
    return all.filter((_, i) => problems[i] !== null).map(({ id }) => id)
  }

  async list(): Promise<readonly InstalledModel[]> {
    const broken = await this.broken()
    const all = await this.#all()
    return all.filter(({ id }) => !broken.includes(id)).map((stored) => this.#installed(stored))
  }

  async find(id: string): Promise<InstalledModel> {
    const stored = await this.storedOrThrow(id)
    const detail = await this.problemOf(stored)
    if (detail !== null) throw new GatehouseError('ModelNotInstalled', { id, detail })
    return this.#installed(stored)
  }

  async default(): Promise<InstalledModel | null> {
    const id = await this.#chosen()
    const stored = id === null ? null : await this.findStored(id)
    return stored && (await this.problemOf(stored)) === null ? this.#installed(stored) : null
  }

  #all(): Promise<readonly StoredModel[]> {
    return this.#deps.storage.models.list(this.#deps.node)
  }

  async #unknown(id: string): Promise<GatehouseError> {
    const offered = (await this.#deps.catalog.offered()).map(({ entry }) => entry.id)
    return notFound(id, [...offered, ...(await this.#all()).map((stored) => stored.id)])
  }

  async #surroundings(): Promise<Surroundings> {
    return { chosen: await this.#chosen(), memory: await this.#deps.files.availableMemory() }
  }

  /** The operator's choice; else the built-in one where it is installed. A catalog has no say. */
  async #chosen(): Promise<string | null> {
    const chosen = await this.#deps.storage.meta.get(defaultKey)
    if (chosen !== null) return chosen === '' ? null : chosen
    const stored = builtInDefault === null ? null : await this.findStored(builtInDefault)
    return stored && (await this.problemOf(stored)) === null ? stored.id : null
  }

  #installed(stored: StoredModel): InstalledModel {
    const { id, sha256, size_bytes } = stored
    return {
      id,
      label: entryOf(stored).label ?? null,
      file: this.#deps.files.pathOf(sha256),
      sha256,
      size_bytes,
      header: headerOf(stored),
    }
  }

  /** The installed file counts, whatever the catalog says of it by now. */
  async #record({ offered, stored }: Pair, { chosen, memory }: Surroundings): Promise<Model> {
    const { files, installs } = this.#deps
    const problem = stored && (await this.problemOf(stored))
    const here = stored && problem === null ? stored : null
    const shown = here ?? (offered ? null : stored)
    const entry = shown ? entryOf(shown) : (offered as OfferedModel).entry
    const header =
      stored?.sha256 === entry.sha256
        ? headerOf(stored)
        : (this.#inspected.get(entry.sha256) ?? null)
    const job = await installs.last(entry.id)
    return {
      ...entry,
      source: shown ? shown.source : (offered as OfferedModel).source,
      installed: here !== null,
      default: entry.id === chosen,
      listed: offered !== null,
      update_available: here !== null && offered !== null && offered.entry.sha256 !== here.sha256,
      installed_at: here && iso(here.installed_ms),
      verified_at: here && iso(here.verified_ms),
      problem,
      header,
      fit: gradeFit(entry.size_bytes, header, memory),
      partial_bytes: here ? 0 : await files.partialBytes(entry.sha256),
      job: job ? await installs.record(job) : null,
    }
  }
}
