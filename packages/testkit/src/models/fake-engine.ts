import { type EngineState, GatehouseError } from '@gatehouse/contract'
import type { InferenceUseCases } from '@gatehouse/server/app/inference/inference'
import type { EngineTask } from '@gatehouse/server/ports/engine'

const time = '2026-03-01T12:00:00.000Z'
const sentence = 'Hello from the local model.'
const usage = { prompt_tokens: 22, completion_tokens: 9, total_tokens: 31 }

export const fakeEngineState: EngineState = {
  status: 'running',
  package: { installed: true, version: '3.22.1', problem: null, remedy: null },
  setup: {
    status: 'done',
    packages_done: 118,
    packages_total: 118,
    error: null,
    started_at: time,
    finished_at: time,
  },
  model: 'tiny',
  sandbox: 'bubblewrap',
  pid: 4242,
  context_tokens: 2_048,
  memory_bytes: 141_557_760,
  tokens_per_second: 270.5,
  started_at: time,
  active: 0,
  waiting: 0,
  requests: 3,
  crashes: 1,
  last_failure: 'odd: while it loaded: signal SIGABRT',
  again_at: null,
  quarantined: [{ id: 'odd', reason: 'while it loaded: signal SIGABRT', since: time }],
  measures: [
    { id: 'tiny', tokens_per_second: 270.5, memory_bytes: 141_557_760, measured_at: time },
  ],
}

const known = (id: string | undefined): string => {
  if (id === 'nothing') throw new GatehouseError('ModelNotFound', { id })
  return id ?? 'tiny'
}

const say = (task: EngineTask, onText: (text: string) => void) => {
  const words = sentence.split(/(?= )/)
  const kept = words.slice(0, task.max_tokens)
  for (const word of kept) onText(word)
  const finish_reason = kept.length < words.length ? ('length' as const) : ('stop' as const)
  return { text: kept.join(''), finish_reason, usage }
}

/** An engine that always says the same. */
export const fakeEngine: InferenceUseCases = {
  showEngine: async () => fakeEngineState,
  setUpEngine: async () => fakeEngineState.setup,
  startEngine: async (_op, { model }) => ({ ...fakeEngineState, model: known(model ?? undefined) }),
  stopEngine: async () => ({
    ...fakeEngineState,
    status: 'stopped',
    model: null,
    sandbox: null,
    pid: null,
    context_tokens: null,
    memory_bytes: null,
    tokens_per_second: null,
    started_at: null,
  }),
  releaseModel: async (_op, { id }) => ({ id: known(id), released: true }),
  tryModel: async (_op, { id }) => ({
    model: known(id),
    text: sentence,
    finish_reason: 'stop',
    usage,
    duration_ms: 33,
  }),
  listUsableModels: async () => [
    {
      id: 'tiny',
      label: 'Tiny',
      parameters: 115_008,
      context_tokens: 2_048,
      size_bytes: 132_256,
      default: true,
      loaded: true,
      quarantine: null,
    },
  ],
  generateText: async (_op, { model, task, onText }) => ({
    ...say(task, onText),
    model: known(model),
  }),
  embedTexts: async (_op, { model, inputs }) => ({
    model: known(model),
    vectors: inputs.map((_, at) => (at % 2 === 0 ? [0.6, 0.8] : [0.8, 0.6])),
    usage: { prompt_tokens: 4, total_tokens: 4 },
  }),
}
