import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { Page } from '../../ui/page.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { Decided } from './decided.tsx'
import { Grants } from './grants.tsx'
import { Waiting } from './waiting.tsx'

export const ApprovalsPage = () => {
  const [{ tab }, , open] = useFilters({ tab: 'waiting' })
  const requests = useRead('listApprovals').data?.total ?? 0
  const count = requests + (useRead('listQuestions').data?.questions.length ?? 0)
  return (
    <Page title={text.title}>
      <Tabs
        label={text.tabsLabel}
        value={tab}
        onChange={(next) => open({ tab: next })}
        tabs={[
          { value: 'waiting', text: text.tabs.waiting, count },
          { value: 'decided', text: text.tabs.decided },
          { value: 'grants', text: text.tabs.grants },
        ]}
      >
        <TabPanel value="waiting">
          <Waiting />
        </TabPanel>
        <TabPanel value="decided">
          <Decided />
        </TabPanel>
        <TabPanel value="grants">
          <Grants />
        </TabPanel>
      </Tabs>
    </Page>
  )
}
