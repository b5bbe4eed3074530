//! The work of a scan: tasks opened, then decoded unit by unit.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use icefloe_format::predicate::{BoundPredicate, Predicate, bind, parse_json};
use icefloe_format::spec::{Datum, Schema, partition_from_json};
use icefloe_format::transform::Transform;

use super::columns::{BatchPlan, FileFacts};
use super::delete_files::DeleteFiles;
use super::file::{Footer, OpenFile, Unit, units};
use super::file_columns::{FileColumn, file_columns};
use super::key_tests::KeyTests;
use super::pipeline::Work;
use super::row_filter::RowTest;
use super::row_groups::{in_range, that_might_match};
use super::task::ScanTask;
use crate::error::Result;
use crate::plan::TableContext;
use crate::store::FileIo;

/// Everything a scan reads from.
pub(crate) struct ScanWork {
    pub(crate) io: FileIo,
    pub(crate) context: Arc<TableContext>,
    pub(crate) projection: Schema,
    pub(crate) tasks: Vec<ScanTask>,
    pub(crate) deletes: DeleteFiles,
    pub(crate) batch_size: usize,
    pub(crate) limit: Option<usize>,
    pub(crate) string_views: bool,
}

impl Work for Arc<ScanWork> {
    type Unit = Unit;
    type Item = RecordBatch;

    fn tasks(&self) -> usize {
        self.tasks.len()
    }

    fn prepare(&self, task: usize) -> Result<Vec<Unit>> {
        let Some(task) = self.tasks.get(task) else { return Ok(vec![]) };
        self.open(task).map_err(|error| error.at(&task.location))
    }

    fn decode(&self, unit: Unit, emit: &mut dyn FnMut(RecordBatch) -> bool) -> Result<()> {
        unit.decode(self.batch_size, self.limit, emit)
    }
}

impl ScanWork {
    fn open(&self, task: &ScanTask) -> Result<Vec<Unit>> {
        let footer = Footer::read(&self.io, &task.location, task.record_count)?;
        let columns = file_columns(footer.schema(), self.context.name_mapping.as_ref());
        let identities = self.identities(task)?;
        let facts = FileFacts {
            columns: &columns,
            descriptor: footer.metadata.file_metadata().schema_descr(),
            location: &task.location,
            spec_id: task.spec_id,
            identities: &identities,
        };
        let output = BatchPlan::new(&self.projection, &facts, self.string_views)?;
        let residual = self.residual(task)?;
        let row_groups = self.row_groups(task, &footer, &columns, &residual)?;
        let tests = self.tests(residual, &facts)?;
        let keys = KeyTests::new(
            self.deletes.key_sets(&task.deletes)?,
            (&self.projection, &output, self.string_views),
            &facts,
            (&footer.metadata, &row_groups),
        )?;
        let plans = std::iter::once(&output).chain(tests.iter().map(RowTest::columns));
        let plans = plans.chain(keys.iter().flat_map(KeyTests::plans));
        let reader = footer.reader(&columns, plans, &row_groups)?;
        let file = OpenFile {
            io: self.io.clone(),
            location: task.location.clone(),
            source: footer.source.clone(),
            reader,
            output,
            tests,
            keys,
            deleted: self.deletes.positions(&task.location, &task.deletes)?,
        };
        Ok(units(&Arc::new(file), &row_groups))
    }

    fn residual(&self, task: &ScanTask) -> Result<BoundPredicate> {
        let Some(residual) = &task.residual else { return Ok(Predicate::AlwaysTrue) };
        Ok(bind(&parse_json(residual)?, &self.context.schema, true)?)
    }

    fn row_groups(
        &self,
        task: &ScanTask,
        footer: &Footer,
        columns: &[FileColumn],
        residual: &BoundPredicate,
    ) -> Result<Vec<usize>> {
        let groups = in_range(&footer.metadata, task.start, task.length);
        if matches!(residual, Predicate::AlwaysTrue) {
            return Ok(groups);
        }
        Ok(that_might_match(&footer.metadata, columns, groups, residual)?)
    }

    fn tests(&self, residual: BoundPredicate, facts: &FileFacts<'_>) -> Result<Vec<RowTest>> {
        if matches!(residual, Predicate::AlwaysTrue) {
            return Ok(vec![]);
        }
        Ok(vec![RowTest::matches(residual, &self.context.schema, facts)?])
    }

    /// Values of the columns that the file's partition holds as they are, by source id.
    fn identities(&self, task: &ScanTask) -> Result<HashMap<i32, Option<Datum>>> {
        let Some(spec) = self.context.specs.get(&task.spec_id) else { return Ok(HashMap::new()) };
        if !spec.fields.iter().any(|field| field.transform == Transform::Identity) {
            return Ok(HashMap::new());
        }
        let values = partition_from_json(&self.context.partition_type(spec), &task.partition)?;
        let pairs = spec.fields.iter().zip(values);
        let pairs = pairs.filter(|(field, _)| field.transform == Transform::Identity);
        Ok(pairs.map(|(field, value)| (field.source_id, value)).collect())
    }
}
