import {
  EngineSetup,
  EngineState,
  ModelAnswer,
  ReleasedModel,
  StartEngine,
  TryModel,
} from '../engine.ts'
import { defineRoutes } from './define-routes.ts'

/** Errors that keep a model from being loaded. */
const loading = [
  'ModelNotFound',
  'ModelNotInstalled',
  'ModelQuarantined',
  'ModelTooLarge',
  'EngineNotInstalled',
  'EngineBusy',
  'EngineFailed',
] as const

export const engineRoutes = defineRoutes({
  showEngine: {
    method: 'GET',
    path: '/api/engine',
    summary: 'The engine of local models: what is loaded, what it takes, how it has fared',
    permission: 'read',
    answer: EngineState,
  },
  setUpEngine: {
    method: 'POST',
    path: '/api/models/setup',
    summary: 'Install the engine; it goes on behind the answer, and `setup` of the engine shows it',
    permission: 'models.manage',
    answer: EngineSetup,
    success: 202,
  },
  startEngine: {
    method: 'POST',
    path: '/api/engine/start',
    summary: 'Load a model now, instead of with the first request',
    permission: 'models.manage',
    body: StartEngine,
    answer: EngineState,
    errors: ['NoModelChosen', ...loading, 'SandboxUnavailable'],
  },
  stopEngine: {
    method: 'POST',
    path: '/api/engine/stop',
    summary: 'End the engine now and free its memory; the next request starts it again',
    permission: 'models.manage',
    answer: EngineState,
  },
  releaseModel: {
    method: 'POST',
    path: '/api/models/:id/release',
    summary: 'Let a model out of quarantine: the next request loads it again',
    permission: 'models.manage',
    answer: ReleasedModel,
    errors: ['ModelNotFound', 'ModelNotInstalled'],
  },
  tryModel: {
    method: 'POST',
    path: '/api/models/:id/try',
    summary: 'Ask a model something, and wait for the whole answer',
    permission: 'models.use',
    body: TryModel,
    answer: ModelAnswer,
    errors: [...loading, 'PromptTooLong', 'SandboxUnavailable'],
  },
})
