import type { vaultRoutes } from '@gatehouse/contract/routes/vault'
import type { Handlers } from '../handler.ts'

export const vaultHandlers: Handlers<typeof vaultRoutes> = {
  showVault: (op, app) => app.showVault(op),
  lockVault: (op, app) => app.lockVault(op),
  unlockVault: (op, app, input) => app.unlockVault(op, input),
  setVaultPassphrase: (op, app, input) => app.setVaultPassphrase(op, input),
  rotateVaultKey: (op, app, input) => app.rotateVaultKey(op, input),
  listSecrets: async (op, app) => ({ secrets: await app.listSecrets(op) }),
  addSecret: (op, app, input) => app.addSecret(op, input),
  showSecret: (op, app, input) => app.showSecret(op, input),
  changeSecret: (op, app, input) => app.changeSecret(op, input),
  rotateSecret: (op, app, input) => app.rotateSecret(op, input),
  deleteSecret: (op, app, input) => app.deleteSecret(op, input),
  checkSecret: (op, app, { host = null, ...question }) =>
    app.checkSecret(op, { ...question, host }),
}
