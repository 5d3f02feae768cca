import { GatehouseError, type Model, type ModelJob } from '@gatehouse/contract'
import type { ModelUseCases } from '@gatehouse/server/app/models/models'

const time = '2026-03-01T12:00:00.000Z'

export const fakeModelJob: ModelJob = {
  id: 'job-00000000000000000000000001',
  model_id: 'tiny',
  status: 'done',
  phase: 'ended',
  downloaded_bytes: 132_256,
  total_bytes: 132_256,
  percent: 100,
  bytes_per_second: null,
  eta_seconds: null,
  attempts: 1,
  next_attempt_at: null,
  error: null,
  fit: null,
  created_at: time,
  finished_at: time,
}

export const fakeModel: Model = {
  id: 'tiny',
  url: 'https://models.example/tiny.gguf',
  sha256: 'ab'.repeat(32),
  size_bytes: 132_256,
  label: 'Tiny',
  params: '115K',
  license_tag: 'Apache-2.0',
  description: 'Says one sentence.',
  source: 'catalog',
  installed: true,
  default: true,
  listed: true,
  update_available: false,
  installed_at: time,
  verified_at: time,
  problem: null,
  header: {
    architecture: 'llama',
    name: 'tiny',
    parameters: 115_008,
    context_length: 2_048,
    embedding_length: 64,
    layers: 2,
    weights_bytes: 123_136,
    kv_bytes_per_token: 256,
    fully_checked: true,
  },
  fit: {
    grade: 'fits',
    needs_bytes: 149_000_000,
    available_bytes: 8_000_000_000,
    context_tokens: 2_048,
    basis: 'header',
  },
  partial_bytes: 0,
  job: fakeModelJob,
}

const catalog = {
  status: 'current',
  url: 'https://models.example/models.json',
  fetched_at: time,
  checked_at: time,
  reason: null,
  dropped: [{ id: '../x', index: 3, field: 'id', reason: 'id must not contain ".."' }],
} as const

/** One installed model, and a catalog that dropped an entry. */
export const fakeModels: ModelUseCases = {
  listModels: async () => ({
    models: [fakeModel],
    default_model: 'tiny',
    catalog: { ...catalog, dropped: [...catalog.dropped] },
  }),
  async showModel(_op, { id }) {
    // Models of other tests than those of models are this one.
    if (id === 'nothing') throw new GatehouseError('ModelNotFound', { id })
    return { ...fakeModel, id }
  },
  inspectModel: async (_op, { id }) => ({ ...fakeModel, id }),
  installModel: async (_op, { id }) => ({ ...fakeModelJob, model_id: id }),
  showModelJob: async () => fakeModelJob,
  cancelInstall: async (_op, { id }) => ({
    ...fakeModelJob,
    model_id: id,
    status: 'cancelled',
    downloaded_bytes: 65_536,
    percent: 49.5,
  }),
  removeModel: async (_op, { id }) => ({ id, removed: true, freed_bytes: 132_256 }),
  verifyModel: async (_op, { id }) => ({
    id,
    verified: true,
    expected_sha256: fakeModel.sha256,
    found_sha256: fakeModel.sha256,
    size_bytes: 132_256,
    verified_at: time,
    detail: null,
  }),
  setDefaultModel: async (_op, { id }) => ({ default_model: id }),
  refreshCatalog: async () => ({ ...catalog, dropped: [...catalog.dropped] }),
}
