import { GatehouseError } from '@gatehouse/contract'
import type { EngineParts } from '@gatehouse/server/app/inference/inference'
import type { Engine, EngineExit } from '@gatehouse/server/ports/engine'

export const sentence = 'Hello from the local model.'
const memoryBytes = 141_557_760

/** How loaded models answer, for those that answer in another way. */
export type EngineAnswers = Partial<Pick<Engine, 'embed' | 'generate'>>

const generate: Engine['generate'] = async (task, onText) => {
  const words = sentence.split(/(?= )/)
  const kept = words.slice(0, task.max_tokens)
  for (const word of kept) onText(word)
  const finish_reason = kept.length < words.length ? 'length' : 'stop'
  const usage = { prompt_tokens: 22, completion_tokens: 9, total_tokens: 31 }
  return { text: kept.join(''), finish_reason, usage }
}

const embed: Engine['embed'] = async (inputs) => ({
  vectors: inputs.map((_, at) => (at % 2 === 0 ? [0.6, 0.8] : [0.8, 0.6])),
  usage: { prompt_tokens: 4, total_tokens: 4 },
})

const startEngine = (context_tokens: number, answers: EngineAnswers): Engine => {
  let ended: (exit: EngineExit) => void = () => undefined
  return {
    pid: 4242,
    backend: 'bubblewrap',
    context_tokens,
    memory_bytes: memoryBytes,
    exited: new Promise((resolve) => (ended = resolve)),
    generate: answers.generate ?? generate,
    embed: answers.embed ?? embed,
    becomesIdle: async () => true,
    kill: async () => ended({ how: 'signal SIGKILL', said: '' }),
  }
}

/** An engine that is installed, always says the same, and dies of the model `odd`. */
export const createTestEngine = (answers: EngineAnswers = {}): EngineParts => ({
  installer: {
    state: async () => ({ installed: true, version: '3.22.1', problem: null, remedy: null }),
    install: async (report) => report(118, 118),
  },
  host: {
    async start({ model, context_tokens }) {
      if (model.id === 'odd') throw new GatehouseError('EngineFailed', { detail: 'signal SIGABRT' })
      return startEngine(context_tokens, answers)
    },
    availableMemory: async () => 8_000_000_000,
  },
})
