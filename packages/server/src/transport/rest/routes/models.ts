import {
  CatalogState,
  DefaultModel,
  Model,
  ModelJob,
  ModelList,
  ModelVerification,
  RemovedModel,
  SetDefaultModel,
} from '@gatehouse/contract'
import { z } from 'zod'
import { accepted, defineRoute, ok, type Route } from '../define.ts'
import { pathName } from '../fields.ts'

const params = z.object({ id: pathName })

const list = defineRoute({
  method: 'GET',
  path: '/api/models',
  operationId: 'listModels',
  summary: 'Local models: built-in ones first, then those of the catalog, and how the catalog is',
  permission: 'read',
  response: ModelList,
  errors: [],
  handle: async (op, app) => ok(await app.listModels(op)),
})

const refresh = defineRoute({
  method: 'POST',
  path: '/api/models/catalog/refresh',
  operationId: 'refreshCatalog',
  summary: 'Fetch the catalog now; the answer says whether that worked',
  permission: 'models.manage',
  response: CatalogState,
  errors: ['CatalogUnavailable'],
  handle: async (op, app) => ok(await app.refreshCatalog(op)),
})

const setDefault = defineRoute({
  method: 'PUT',
  path: '/api/models/default',
  operationId: 'setDefaultModel',
  summary: 'Choose the model that is used where a caller names none; null for none',
  permission: 'models.manage',
  body: SetDefaultModel,
  response: DefaultModel,
  errors: ['ModelNotFound', 'ModelNotInstalled'],
  handle: async (op, app, { body }) => ok(await app.setDefaultModel(op, body)),
})

const show = defineRoute({
  method: 'GET',
  path: '/api/models/:id',
  operationId: 'showModel',
  summary: 'One model, with its installation and whether this machine has the memory',
  permission: 'read',
  params,
  response: Model,
  errors: ['ModelNotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.showModel(op, { id })),
})

const inspect = defineRoute({
  method: 'POST',
  path: '/api/models/:id/inspect',
  operationId: 'inspectModel',
  summary: 'Read the beginning of the file from its source: what it is, and whether it fits',
  permission: 'models.manage',
  params,
  response: Model,
  errors: ['ModelNotFound', 'ModelSourceFailed', 'ModelSizeMismatch', 'ModelHeaderRefused'],
  handle: async (op, app, { params: { id } }) => ok(await app.inspectModel(op, { id })),
})

const install = defineRoute({
  method: 'POST',
  path: '/api/models/:id/install',
  operationId: 'installModel',
  summary:
    'Fetch and verify a model; the job goes on behind the answer, and a second request joins it',
  permission: 'models.manage',
  params,
  response: ModelJob,
  success: 202,
  errors: ['ModelNotFound', 'NotEnoughDisk'],
  handle: async (op, app, { params: { id } }) => accepted(await app.installModel(op, { id })),
})

const cancel = defineRoute({
  method: 'POST',
  path: '/api/models/:id/cancel',
  operationId: 'cancelInstall',
  summary: 'End the installation that is under way; what was fetched stays for the next one',
  permission: 'models.manage',
  params,
  response: ModelJob,
  errors: ['ModelNotFound', 'Conflict'],
  handle: async (op, app, { params: { id } }) => ok(await app.cancelInstall(op, { id })),
})

const verify = defineRoute({
  method: 'POST',
  path: '/api/models/:id/verify',
  operationId: 'verifyModel',
  summary: 'Hash the installed file again; one that changed is taken out of use',
  permission: 'models.manage',
  params,
  response: ModelVerification,
  errors: ['ModelNotFound', 'ModelNotInstalled', 'ModelBusy'],
  handle: async (op, app, { params: { id } }) => ok(await app.verifyModel(op, { id })),
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/api/models/:id',
  operationId: 'removeModel',
  summary: 'Remove the file of a model, or what is left of an unfinished download of it',
  permission: 'models.manage',
  params,
  response: RemovedModel,
  errors: ['ModelNotFound', 'ModelNotInstalled', 'ModelBusy'],
  handle: async (op, app, { params: { id } }) => ok(await app.removeModel(op, { id })),
})

const showJob = defineRoute({
  method: 'GET',
  path: '/api/jobs/:id',
  operationId: 'showJob',
  summary: 'How far the installation of a model is, or how it ended',
  permission: 'read',
  params,
  response: ModelJob,
  errors: ['JobNotFound'],
  handle: async (op, app, { params: { id } }) => ok(await app.showModelJob(op, { job_id: id })),
})

export const modelRoutes: readonly Route[] = [
  list,
  refresh,
  setDefault,
  show,
  inspect,
  install,
  cancel,
  verify,
  remove,
  showJob,
]
