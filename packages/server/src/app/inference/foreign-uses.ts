import type { Gates } from '../../ports/gates.ts'
import type { AgentInference, EmbeddedBy, GeneratedBy } from '../../ports/inference.ts'

/** Models as somebody uses them: whose turn it is, until when, and what of it goes into the log. */
export type UseModels = (
  who: string,
  signal: AbortSignal,
  noted: (facts: Readonly<Record<string, unknown>>) => void,
) => AgentInference

/** Uses models by way of the first gate process: what one loads, the others need not load again. */
export const modelsElsewhere =
  (gates: Gates): UseModels =>
  (who, signal, noted) => ({
    models: () => gates.ask(0, 'models', null),
    async generate(model, task, onText) {
      let text = ''
      const given = { who, model, work: { kind: 'generate', task } } as const
      const made = await gates.ask(0, 'use model', given, {
        signal,
        told(told) {
          if (told.kind === 'noted') return noted(told.facts)
          text += told.text
          onText(text)
        },
      })
      return made as GeneratedBy
    },
    async embed(model, inputs) {
      const given = { who, model, work: { kind: 'embed', inputs } } as const
      const made = await gates.ask(0, 'use model', given, {
        signal,
        told: (told) => told.kind === 'noted' && noted(told.facts),
      })
      return made as EmbeddedBy
    },
  })

/** Serves the other gate processes with the models of this one, which is the first. */
export const answerModels = (gates: Gates, use: UseModels): void => {
  const unheard = new AbortController().signal
  gates.answer('models', () => use('', unheard, () => {}).models())
  gates.answer('use model', async ({ who, model, work }, { signal, tell }) => {
    const models = use(who, signal, (facts) => tell({ kind: 'noted', facts }))
    if (work.kind === 'embed') return models.embed(model, work.inputs)
    let told = 0
    return models.generate(model, work.task, (text) => {
      tell({ kind: 'text', text: text.slice(told) })
      told = text.length
    })
  })
}
