export * from './conformance/index.ts'
export * from './scripted-model/index.ts'
