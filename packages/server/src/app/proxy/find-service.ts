import { GatehouseError, type ProxyService } from '@gatehouse/contract'
import type { StoredService } from '../../ports/services.ts'
import type { ProxyDeps } from './deps.ts'
import { serviceRecords } from './records.ts'

/** The service as people see it. */
export const serviceRecordOf = async (deps: ProxyDeps, name: string): Promise<ProxyService> => {
  const record = (await serviceRecords(deps)).find((service) => service.name === name)
  if (!record) throw notThere(name)
  return record
}

export const notThere = (service: string): GatehouseError =>
  new GatehouseError(
    'ServiceNotFound',
    { service, agent: 'anybody' },
    {
      recovery: [
        { action: 'gatehouse proxy status', description: 'See which services there are.' },
      ],
    },
  )

export async function existing(deps: ProxyDeps, name: string): Promise<StoredService> {
  const service = await deps.storage.services.find(name)
  if (!service) throw notThere(name)
  return service
}
