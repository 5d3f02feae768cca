import {
  EngineSetup,
  EngineState,
  ModelAnswer,
  ReleasedModel,
  StartEngine,
  TryModel,
} from '@gatehouse/contract'
import { z } from 'zod'
import { accepted, defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const params = z.object({ id: pathName })

const show = defineRoute({
  method: 'GET',
  path: '/api/engine',
  operationId: 'showEngine',
  summary: 'The engine of local models: what is loaded, what it takes, how it has fared',
  permission: 'read',
  response: EngineState,
  errors: [],
  handle: async (op, app) => ok(await app.showEngine(op)),
})

const setUp = defineRoute({
  method: 'POST',
  path: '/api/models/setup',
  operationId: 'setUpEngine',
  summary: 'Install the engine; it goes on behind the answer, and `setup` of the engine shows it',
  permission: 'models.manage',
  response: EngineSetup,
  success: 202,
  errors: [],
  handle: async (op, app) => accepted(await app.setUpEngine(op)),
})

const start = defineRoute({
  method: 'POST',
  path: '/api/engine/start',
  operationId: 'startEngine',
  summary: 'Load a model now, instead of with the first request',
  permission: 'models.manage',
  body: StartEngine,
  response: EngineState,
  errors: [
    'NoModelChosen',
    'ModelNotFound',
    'ModelNotInstalled',
    'ModelQuarantined',
    'ModelTooLarge',
    'EngineNotInstalled',
    'EngineBusy',
    'EngineFailed',
    'SandboxUnavailable',
  ],
  handle: async (op, app, { body }) => ok(await app.startEngine(op, body)),
})

const stop = defineRoute({
  method: 'POST',
  path: '/api/engine/stop',
  operationId: 'stopEngine',
  summary: 'End the engine now and free its memory; the next request starts it again',
  permission: 'models.manage',
  response: EngineState,
  errors: [],
  handle: async (op, app) => ok(await app.stopEngine(op)),
})

const release = defineRoute({
  method: 'POST',
  path: '/api/models/:id/release',
  operationId: 'releaseModel',
  summary: 'Let a model out of quarantine: the next request loads it again',
  permission: 'models.manage',
  params,
  response: ReleasedModel,
  errors: ['ModelNotFound', 'ModelNotInstalled'],
  handle: async (op, app, { params: { id } }) => ok(await app.releaseModel(op, { id })),
})

const tryOut = defineRoute({
  method: 'POST',
  path: '/api/models/:id/try',
  operationId: 'tryModel',
  summary: 'Ask a model something, and wait for the whole answer',
  permission: 'models.use',
  params,
  body: TryModel,
  response: ModelAnswer,
  errors: [
    'ModelNotFound',
    'ModelNotInstalled',
    'ModelQuarantined',
    'ModelTooLarge',
    'EngineNotInstalled',
    'EngineBusy',
    'EngineFailed',
    'PromptTooLong',
    'SandboxUnavailable',
  ],
  handle: async (op, app, { params: { id }, body }) => ok(await app.tryModel(op, { id, ...body })),
})

export const engineRoutes: readonly Route[] = [show, setUp, start, stop, release, tryOut]
