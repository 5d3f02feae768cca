import type { ReactNode } from 'react'
import { useRead } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay } from '../../session.tsx'
import { Page } from '../../ui/page.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Appearance } from './appearance.tsx'
import { CertificateView } from './certificate.tsx'
import { ConfigurationView } from './configuration.tsx'
import { Logins } from './logins.tsx'
import { Nodes } from './nodes.tsx'
import { Notifications } from './notifications.tsx'
import { People } from './people.tsx'
import { Retention } from './retention.tsx'
import { Tokens } from './tokens.tsx'

const tabs: readonly (readonly [keyof typeof text.tabs, ReactNode])[] = [
  ['people', <People key="people" />],
  ['tokens', <Tokens key="tokens" />],
  ['logins', <Logins key="logins" />],
  ['notifications', <Notifications key="notifications" />],
  ['nodes', <Nodes key="nodes" />],
  ['certificate', <CertificateView key="certificate" />],
  ['retention', <Retention key="retention" />],
  ['configuration', <ConfigurationView key="configuration" />],
  ['appearance', <Appearance key="appearance" />],
]

export const SettingsPage = () => {
  // The list of logins is for operators; the service refuses the list to others.
  const maySeeLogins = useMay('operators.manage')
  const isShared = useRead('listNodes').data?.shared === true
  const hidden = { logins: !maySeeLogins, nodes: !isShared }
  const shown = tabs.filter(([value]) => !(value in hidden && hidden[value as keyof typeof hidden]))
  const [{ tab }, , open] = useFilters({ tab: 'people' })
  return (
    <Page title={text.title}>
      <Tabs
        label={text.tabsLabel}
        value={tab}
        onChange={(next) => open({ tab: next })}
        tabs={shown.map(([value]) => ({ value, text: text.tabs[value] }))}
      >
        {shown.map(([value, content]) => (
          <TabPanel key={value} value={value}>
            {content}
          </TabPanel>
        ))}
      </Tabs>
    </Page>
  )
}
