import {
  type EngineSetup,
  type EngineState,
  GatehouseError,
  type ModelAnswer,
  type ReleasedModel,
  type TryModel,
} from '@gatehouse/contract'
import { engineMissing } from '../../domain/models/engine-missing.ts'
import { grammarSchema } from '../../domain/models/grammar-schema.ts'
import type { Engine, EngineHost, EngineInstaller, EngineTask } from '../../ports/engine.ts'
import type { Gates } from '../../ports/gates.ts'
import type { AgentInference, EmbeddedBy, GeneratedBy, UsableModel } from '../../ports/inference.ts'
import type { InstalledModel, InstalledModels } from '../../ports/models.ts'
import { actDraft } from '../call/audit-draft.ts'
import type { Basics } from '../call/basics.ts'
import type { Call } from '../call/call.ts'
import { Hearers } from '../call/hearers.ts'
import { actorText, type Op, systemOp } from '../call/op.ts'
import type { Part, PartHealth } from '../call/part.ts'
import { EngineKeeper } from './engine-keeper.ts'
import { EngineSetupRun } from './engine-setup-run.ts'
import { FairQueue } from './fair-queue.ts'
import { answerModels, modelsElsewhere, type UseModels } from './foreign-uses.ts'
import { ModelRecords } from './model-records.ts'
import { stateOf } from './show-engine.ts'

/** Dependencies of running models. */
export type EngineParts = {
  readonly installer: EngineInstaller
  readonly host: EngineHost
}

export type InferenceDeps = Pick<Basics, 'storage' | 'auditLog' | 'clock' | 'ids' | 'log'> & {
  readonly settings: { readonly 'engine.idle': number }
  readonly node: string
  readonly gates: Gates | null
  readonly engine: EngineParts
  readonly installed: InstalledModels
  readonly signal: AbortSignal
}

export type ModelRequest = { readonly model?: string | undefined }

/** For people; whatever changes something or uses a model is recorded. */
export interface InferenceUseCases {
  showEngine(op: Op): Promise<EngineState>
  /** Calls the listener with the state of the engine as it becomes another, and with each step of its installation. */
  subscribeEngine(listener: (state: EngineState) => void): Disposable
  /** Installs the engine behind the answer; a second request joins the one that runs. */
  setUpEngine(op: Op): Promise<EngineSetup>
  /** Loads a model now instead of with the first request. */
  startEngine(op: Op, input: { model: string | null }): Promise<EngineState>
  stopEngine(op: Op): Promise<EngineState>
  releaseModel(op: Op, input: { id: string }): Promise<ReleasedModel>
  tryModel(op: Op, input: { id: string } & TryModel): Promise<ModelAnswer>
  /** Models for the endpoint that people's programs use. */
  listUsableModels(op: Op): Promise<readonly UsableModel[]>
  generateText(
    op: Op,
    input: ModelRequest & { task: EngineTask; onText: (text: string) => void },
  ): Promise<GeneratedBy>
  embedTexts(op: Op, input: ModelRequest & { inputs: readonly string[] }): Promise<EmbeddedBy>
}

export type Inference = Part<InferenceUseCases> & {
  inferenceOf(call: Call, signal: AbortSignal, noted: Noted): AgentInference
  /** How the engine is; it has no component of its own, but says more of `models`. */
  engineHealth(): Promise<PartHealth>
  /** Raises what a call with this model, or the default one, would raise for want of it or of an engine. */
  modelReady(id: string | undefined): Promise<void>
  /** Whether a call has an engine and a model to work with. */
  ready(): Promise<boolean>
}

type Noted = (facts: Readonly<Record<string, unknown>>) => void

/** In line, beside the one that is at work. */
const waitingMax = { each: 4, all: 64 }

/** A task whose schema the engine will hold the model to. Raises `GenerationRefused`. */
const assertHeld = (task: EngineTask, model: string | undefined): EngineTask => {
  if (!task.json_schema) return task
  const verdict = grammarSchema(task.json_schema)
  if (verdict.kind === 'fits') return { ...task, json_schema: verdict.schema }
  const { detail } = verdict
  throw new GatehouseError('GenerationRefused', { model: model ?? 'in use', detail })
}

/** Running models: who may use the engine when, and what is told of it. */
export function bindInference(deps: InferenceDeps): Inference {
  const { installed, auditLog, clock, log, signal } = deps
  const { host, installer } = deps.engine
  const records = new ModelRecords(deps)
  const hearers = new Hearers<EngineState>()
  // One after the other: the last that is told is how it is.
  let telling = Promise.resolve()
  const changed = () => {
    if (!hearers.any) return
    telling = telling
      .then(async () => hearers.tell(await show()))
      .catch((err: unknown) => log.warn({ err }, 'how the engine is was not told'))
  }
  const keeper = new EngineKeeper({
    host,
    records,
    clock,
    log,
    changed,
    idleMs: deps.settings['engine.idle'],
    op: () => systemOp(deps),
  })
  const queue = new FairQueue(waitingMax)
  const setup = new EngineSetupRun({ auditLog, clock, log, installer, changed, signal })
  const counts = { requests: 0 }
  const show = () => stateOf({ keeper, queue, setup, records, installed, installer, clock, counts })

  const chosen = async (id: string | undefined): Promise<InstalledModel> => {
    if (id !== undefined) return installed.find(id)
    const model = await installed.default()
    if (model) return model
    throw new GatehouseError('NoModelChosen')
  }

  const use = async <T>(
    who: string,
    id: string | undefined,
    ended: AbortSignal,
    noted: Noted,
    work: (engine: Engine) => Promise<T>,
  ): Promise<T & { readonly model: string }> => {
    const model = await chosen(id)
    counts.requests += 1
    noted({ model: model.id })
    const stops = AbortSignal.any([ended, signal])
    const result = await queue.inTurn(who, stops, () =>
      keeper.use(model, stops, (engine) => {
        noted({ sandbox: engine.backend })
        return work(engine)
      }),
    )
    return { ...result, model: model.id }
  }

  const usable = async (): Promise<readonly UsableModel[]> => {
    const [models, preferred] = [await installed.list(), await installed.default()]
    return Promise.all(
      models.map(async (model) => ({
        id: model.id,
        label: model.label,
        parameters: model.header.parameters,
        context_tokens: Math.min(model.header.context_length ?? 4_096, 4_096),
        size_bytes: model.size_bytes,
        default: model.id === preferred?.id,
        loaded: keeper.loaded?.model.sha256 === model.sha256,
        quarantine: (await records.quarantine(model))?.reason ?? null,
      })),
    )
  }

  /** A person's own use: in the log by what was used and how much, not by what was said. */
  const recorded = async <T extends { readonly model: string; readonly usage: object }>(
    by: Op,
    what: string,
    work: (noted: Noted) => Promise<T>,
  ): Promise<T> => {
    let facts: Readonly<Record<string, unknown>> = { endpoint: what }
    const told = (result: 'success' | 'error') =>
      auditLog.transaction(async (tx) => {
        tx.append(actDraft(by, 'model.used', { arguments: facts, result }))
      })
    try {
      const result = await work((more) => {
        facts = { ...facts, ...more }
      })
      facts = { ...facts, ...result.usage }
      await told('success')
      return result
    } catch (cause) {
      if (cause instanceof GatehouseError) facts = { ...facts, error: cause.type }
      await told('error')
      throw cause
    }
  }

  const generateText: InferenceUseCases['generateText'] = (by, { model, task, onText }) =>
    recorded(by, task.kind, async (noted) => {
      const held = assertHeld(task, model)
      return use(actorText(by.actor), model, by.signal, noted, (engine) =>
        engine.generate(held, onText, by.signal),
      )
    })

  const here: UseModels = (who, ended, noted) => ({
    models: usable,
    async generate(model, task, onText) {
      const held = assertHeld(task, model)
      return use(who, model, ended, noted, (engine) => {
        let text = ''
        const more = (part: string) => {
          text += part
          onText(text)
        }
        return engine.generate(held, more, ended)
      })
    },
    embed: (model, inputs) =>
      use(who, model, ended, noted, (engine) => engine.embed(inputs, ended)),
  })
  const { gates } = deps
  const models = gates && gates.index > 0 ? modelsElsewhere(gates) : here
  if (gates?.index === 0) answerModels(gates, here)

  return {
    useCases: {
      showEngine: show,
      subscribeEngine: (listener) => hearers.add(listener),
      setUpEngine: (by) => setup.begin(by),
      async startEngine(by, { model: id }) {
        const model = await chosen(id ?? undefined)
        await queue.inTurn(actorText(by.actor), by.signal, () =>
          keeper.use(model, by.signal, async () => undefined),
        )
        await auditLog.transaction(async (tx) => {
          tx.append(actDraft(by, 'engine.started', { arguments: { model: model.id } }))
        })
        return show()
      },
      async stopEngine(by) {
        const model = (keeper.loaded?.model ?? keeper.loading)?.id ?? null
        await keeper.stop()
        await auditLog.transaction(async (tx) => {
          tx.append(actDraft(by, 'engine.stopped', { arguments: { model } }))
        })
        return show()
      },
      async releaseModel(by, { id }) {
        const { sha256 } = await installed.find(id)
        await records.release(by, { id, sha256 })
        return { id, released: true }
      },
      async tryModel(by, { id, prompt, max_tokens, temperature }) {
        const messages = [{ role: 'user' as const, content: prompt }]
        const fromMs = performance.now()
        const task = { kind: 'chat', messages, max_tokens, temperature, stop: [] } as const
        const answer = await generateText(by, { model: id, task, onText: () => {} })
        return { ...answer, duration_ms: Math.round(performance.now() - fromMs) }
      },
      listUsableModels: usable,
      generateText,
      embedTexts: (by, { model, inputs }) =>
        recorded(by, 'embed', (noted) =>
          use(actorText(by.actor), model, by.signal, noted, (engine) =>
            engine.embed(inputs, by.signal),
          ),
        ),
    },
    inferenceOf: (call, ended, noted) => models(`agent:${call.agent.name}`, ended, noted),
    async modelReady(id) {
      await chosen(id)
      const found = await installer.state()
      if (!found.installed) throw engineMissing(found)
    },
    async ready() {
      return (await installer.state()).installed && (await installed.list()).length > 0
    },
    async engineHealth() {
      const { quarantined } = await show()
      const [first] = quarantined
      if (first) return { status: 'degraded', reason: `${first.id} is in quarantine` }
      return { status: 'healthy' }
    },
    // An engine starts with the first request for it.
    start: async () => {},
    async stopped() {
      await Promise.all([keeper.stop(), setup.stopped()])
      await telling
    },
  }
}
