export { type AdapterHarness, describeServiceAdapter } from './adapter-conformance.ts'
export { type FakeConnection, fakeAdapter } from './fake-adapter.ts'
export { type FakeLink, FakeLinkError, httpLink, memoryLink, serveFake } from './fake-link.ts'
export { type FakeFault, type FakeItem, type FakeRequest, FakeServer } from './fake-server.ts'
