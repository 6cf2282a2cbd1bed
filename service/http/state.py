"""What a running service holds: opened when the app starts, closed when it ends."""

import logging
from dataclasses import dataclass

from celery import Celery

from certiset.core.certificate.issuer_keys import IssuerKeys
from certiset.core.certificate.signing import Signer
from certiset.core.graphs import GraphHost, GraphLimits
from certiset.core.jobs.announcer import Announcer
from certiset.core.settings import Settings
from certiset.core.store import Store
from certiset.service.batches.batch_process import BatchProcess
from certiset.service.http.access.keys import KeyRing
from certiset.service.http.access.look_ups import LookUps
from certiset.service.http.access.rate_limit import RateLimit
from certiset.service.http.access.secret import derive, read_secret
from certiset.service.http.access.streams import Streams
from certiset.service.http.access.wrong_keys import WrongKeys
from certiset.service.http.deployment_feed import DeploymentFeeds
from certiset.service.http.metrics import Metrics
from certiset.service.http.npz_bodies import NpzBodies
from certiset.service.http.progress_feed import ProgressFeeds
from certiset.service.http.readiness import Readiness
from certiset.service.http.refusals import RefusalLog
from certiset.service.serving.case_hashes import CaseHashes
from certiset.service.serving.deployment_names import DeploymentNames
from certiset.service.serving.inference import InferenceThreads
from certiset.service.serving.issued_counts import IssuedCounts
from certiset.service.serving.prediction_ids import PredictionIds
from certiset.service.serving.predictor_cache import PredictorCache
from certiset.service.serving.set_server import SetServer
from certiset.service.shares import Shares, Slots

_BATCH_SERVER = "certiset.service.http.batch_server"
_UPLOADS = 2
"""that are read at the same time for one tenant"""
_CHECKS = 2
"""data sets that are checked against their model at the same time for one tenant"""
_ROUTES = 8
"""requests that are answered in threads, of which there are 40, at the same time for one tenant"""
_HEAVY_THREADS = 2
"""of each tenant, for requests with much to parse, check or write"""


@dataclass(frozen=True)
class Service:
    settings: Settings
    store: Store
    announcer: Announcer
    keys: KeyRing
    look_ups: LookUps
    wrong_keys: WrongKeys
    limit: RateLimit
    streams: Streams
    feeds: ProgressFeeds
    deployment_feeds: DeploymentFeeds
    reading: Shares
    """bytes of bodies in memory"""
    uploading: Shares
    """bytes of uploads on their way to disk"""
    upload_slots: Slots
    check_slots: Slots
    route_slots: Slots
    readiness: Readiness
    metrics: Metrics
    refusals: RefusalLog
    inference: InferenceThreads
    graphs: GraphHost
    """the processes of strangers' models"""
    predictors: PredictorCache
    names: DeploymentNames
    """of deployments"""
    prediction_ids: PredictionIds
    issued: IssuedCounts
    sets: SetServer
    npz_bodies: NpzBodies
    batches: BatchProcess
    """for large requests, beside ``sets``"""
    signer: Signer
    """signs what is said here about certificates"""
    issuer_keys: IssuerKeys
    """whose certificates are shown and served"""

    @classmethod
    def open(cls, settings: Settings) -> "Service":
        store = Store.ready(settings)
        try:
            secret = read_secret(settings.secret)
            signer = Signer.from_file_or_new(settings.signing_key, settings.issuer)
            inference = InferenceThreads.on(settings.device, settings.queue_numbers)
        except BaseException:
            store.close()
            raise
        keys = KeyRing(store, derive(secret, "api keys"), settings.api_keys, settings.stale_key_seconds)
        announcer, metrics, streams = Announcer.connect(settings, Celery), Metrics(store), Streams()
        reading = Shares(settings.body_bytes)
        metrics.waiting_numbers.set_function(lambda: inference.waiting)
        metrics.bytes_in_flight.set_function(lambda: reading.all)
        metrics.event_streams.set_function(lambda: streams.open)
        graphs = GraphHost(
            GraphLimits(memory=settings.graph_bytes, seconds=settings.graph_seconds),
            of_one_owner=settings.graph_processes,
            died=lambda: metrics.confined_process_died("graph"),
        )
        issuer_keys = IssuerKeys.of(signer.public_key, map(str.strip, settings.retired_keys.split(",")))
        predictors = PredictorCache(store, settings.cache_bytes, inference, graphs, issuer_keys)
        names = DeploymentNames(store, predictors.get)
        prediction_ids, issued = PredictionIds(derive(secret, "prediction ids")), IssuedCounts(store)
        batches = BatchProcess(
            _BATCH_SERVER,
            {"settings": settings.to_environment(), "log_level": logging.getLogger().getEffectiveLevel()},
            # On a GPU a second process would hold a second copy of every predictor, and little is Python's work.
            idle_seconds=settings.batch_seconds if inference.is_on_cpu else 0.0,
            died=lambda: metrics.confined_process_died("batch"),
        )
        metrics.batch_process.set_function(lambda: batches.is_ready)
        return cls(
            settings=settings,
            store=store,
            announcer=announcer,
            keys=keys,
            look_ups=LookUps(keys),
            wrong_keys=WrongKeys(settings.wrong_keys),
            limit=RateLimit(settings.rate_limit),
            streams=streams,
            feeds=ProgressFeeds(store),
            deployment_feeds=DeploymentFeeds(store),
            reading=reading,
            uploading=Shares(settings.upload_bytes),
            upload_slots=Slots(_UPLOADS),
            check_slots=Slots(_CHECKS),
            route_slots=Slots(_ROUTES),
            readiness=Readiness(store, announcer, lambda: predictors.has_any and keys.has_usable()),
            metrics=metrics,
            refusals=RefusalLog(store, settings.audit_seconds),
            inference=inference,
            graphs=graphs,
            predictors=predictors,
            names=names,
            prediction_ids=prediction_ids,
            issued=issued,
            sets=SetServer(
                predictors,
                names,
                inference,
                prediction_ids,
                max_rows=settings.max_predict_rows,
                max_outputs=settings.max_predict_numbers,
                cases=CaseHashes(derive(secret, "cases")),
                count_rows=metrics.rows.inc,
                count_issued=issued.count,
                count_asked=issued.count_asked,
                threads=Slots(_HEAVY_THREADS),
            ),
            npz_bodies=NpzBodies(settings.max_predict_bytes, settings.max_predict_rows),
            batches=batches,
            signer=signer,
            issuer_keys=issuer_keys,
        )

    def close(self) -> None:
        self.batches.close()
        self.npz_bodies.close()
        self.refusals.close()
        self.issued.close()
        self.graphs.close()
        self.inference.close()
        self.announcer.close()
        self.store.close()
