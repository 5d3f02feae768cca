import { useState } from 'react'
import { useRead } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { ConnectDialog } from './connect-dialog.tsx'
import { Rollbacks } from './rollbacks.tsx'
import { ServiceCard } from './service-card.tsx'
import { Writes } from './writes.tsx'

export const ServicesPage = () => {
  const [{ tab }, , open] = useFilters({ tab: 'services' })
  const [connecting, setConnecting] = useState(false)
  const mayConnect = useMay('proxy.manage')
  const services = useRead('showProxy')
  const waiting =
    services.data?.services.reduce((sum, { buffered_writes }) => sum + buffered_writes, 0) ?? 0
  return (
    <Page
      title={text.title}
      intro={text.intro}
      actions={
        mayConnect && (
          <Button tone="primary" icon="plus" onClick={() => setConnecting(true)}>
            {text.connect}
          </Button>
        )
      }
    >
      <Tabs
        label={text.tabsLabel}
        value={tab}
        onChange={(next) => open({ tab: next })}
        tabs={[
          { value: 'services', text: text.tabs.services },
          { value: 'writes', text: text.tabs.writes, count: waiting },
          { value: 'rollbacks', text: text.tabs.rollbacks },
        ]}
      >
        <TabPanel value="services">
          <Loaded query={services}>
            {({ services: all }) =>
              all.length === 0 ? (
                <Empty icon="services" title={text.none}>
                  {text.noneNext}
                </Empty>
              ) : (
                <ul aria-label={text.title} className="grid gap-3">
                  {all.map((service) => (
                    <ServiceCard key={service.name} service={service} />
                  ))}
                </ul>
              )
            }
          </Loaded>
        </TabPanel>
        <TabPanel value="writes">
          <Writes />
        </TabPanel>
        <TabPanel value="rollbacks">
          <Rollbacks />
        </TabPanel>
      </Tabs>
      {connecting && <ConnectDialog onClose={() => setConnecting(false)} />}
    </Page>
  )
}
